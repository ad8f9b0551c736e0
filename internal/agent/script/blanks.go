package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// blanks is what a script cannot know beforehand.
type blanks struct {
	found   string // in the prompt
	answer  string // of the last call; "" when it failed
	message string // the messageId of the last answer that named one
}

// answered takes the answer of a call.
func (b *blanks) answered(answer string) {
	b.answer = answer
	var of struct{ MessageID string }
	if json.Unmarshal([]byte(answer), &of) == nil && of.MessageID != "" {
		b.message = of.MessageID
	}
}

// fill puts what is known into the strings of a call's arguments.
func (b *blanks) fill(args json.RawMessage) json.RawMessage {
	if !strings.Contains(string(args), "{{") {
		return args
	}
	return json.RawMessage(strings.NewReplacer("{{found}}", inString(b.found), "{{answer}}", inString(b.answer),
		"{{message}}", inString(b.message)).Replace(string(args)))
}

// inString writes text as it stands within the quotes of a JSON string.
func inString(text string) string {
	quoted, _ := json.Marshal(text) // a string is always JSON
	return string(quoted[1 : len(quoted)-1])
}

// find returns what Find finds last in a prompt. An expression that is none finds nothing.
func (s Script) find(prompt string) string {
	what, err := regexp.Compile(s.Find)
	if s.Find == "" || err != nil {
		return ""
	}
	if all := what.FindAllString(prompt, -1); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// keep adds a prompt to the file of Prompts, where there is one. It begins a line of its own: one before it may have been
// killed in the midst of its line.
func (s Script) keep(prompt string) error {
	if s.Prompts == "" {
		return nil
	}
	line, err := json.Marshal(prompt)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(s.Prompts, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "\n%s\n", line)
	return errors.Join(err, file.Close())
}
