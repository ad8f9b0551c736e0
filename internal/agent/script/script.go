// Package script is an agent that does what a script says: in this process for tests and benches, or as a process
// of its own that speaks the Agent Client Protocol, well or badly. It thinks nothing.
package script

import (
	"encoding/json"
	"strings"

	"familiar/internal/agent"
)

// Script is what an agent does. It is plain data and can be JSON, but for the steps that say otherwise.
type Script struct {
	Turns []Turn `json:"turns"`
	// Find is a regular expression. What it finds last in the first prompt of a session stands for {{found}} in Args.
	Find string `json:"find,omitempty"`
	// Prompts is a file to which a process of its own adds every prompt: a line each, as a JSON string, between empty ones.
	Prompts string `json:"prompts,omitempty"`
	// NoImages makes an agent that takes no images.
	NoImages bool `json:"noImages,omitempty"`
	// Moods are the faults of an agent in a process of its own.
	Moods Moods `json:"moods,omitzero"`
}

// Turn is what happens for a prompt. Of the turns whose On is in the prompt's text, and whose Found is in what Find
// found, the first prompt of a session plays the first, the second the second, and so on; when there are no more, the last is played again. A prompt
// that no turn is for ends at once.
type Turn struct {
	On    string `json:"on,omitempty"`    // a piece of the prompt's text; "" takes any
	Found string `json:"found,omitempty"` // a piece of what Find found; "" takes any
	Steps []Step `json:"steps"`
}

// Step is one thing that the agent does; exactly one field is set, Args and Times besides.
type Step struct {
	Say   string          `json:"say,omitempty"`   // its own words
	Think string          `json:"think,omitempty"` // a thought
	Plan  []string        `json:"plan,omitempty"`  // its steps
	Call  string          `json:"call,omitempty"`  // calls a tool, and shows the call; an error does not end the turn
	Args  json.RawMessage `json:"args,omitempty"`  // of Call; in its strings {{found}} is filled in, {{answer}}: that of the last call, and {{message}}: its messageId
	Ask   *agent.Ask      `json:"ask,omitempty"`   // asks for permission; shows the call completed or failed by the answer
	Usage *agent.Usage    `json:"usage,omitempty"` // what the turn cost
	Times int             `json:"times,omitempty"` // repeats Say or Think, each its own update

	Pause int              `json:"pause,omitempty"` // so many milliseconds, or until the turn is cancelled
	Wait  bool             `json:"wait,omitempty"`  // until the turn is cancelled
	Fail  string           `json:"fail,omitempty"`  // ends the turn with an error
	Panic string           `json:"panic,omitempty"` // panics; a process of its own ends with status 3
	End   agent.StopReason `json:"end,omitempty"`   // ends the turn; without it a turn ends with end_turn

	Until <-chan struct{} `json:"-"` // waits until it is closed; only in this process

	// The rest only a process of its own does.
	Raw   string `json:"raw,omitempty"`   // writes a line as it is; {{session}} is the session's id
	Fill  int    `json:"fill,omitempty"`  // says so many bytes in one line
	Heard bool   `json:"heard,omitempty"` // says which requests came so far, one a line: method and parameters
	Env   bool   `json:"env,omitempty"`   // says its environment, one variable a line
	Read  string `json:"read,omitempty"`  // reads a file itself and says the content or the error
	Write string `json:"write,omitempty"` // writes a file itself and says "written" or the error
	FS    *File  `json:"fs,omitempty"`    // reads or writes a file through its client, and says the answer
	Sleep int    `json:"sleep,omitempty"` // starts a grandchild that sleeps so many seconds, holding our output; says its pid
}

// File is a file that is read or written through the client.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content,omitempty"` // "" reads
}

// Moods are the ways in which an agent in a process of its own is hard to live with. Methods are the protocol's.
type Moods struct {
	BOM     bool   `json:"bom,omitempty"`     // a byte order mark before the first line
	CRLF    bool   `json:"crlf,omitempty"`    // lines end with CR LF
	Noise   string `json:"noise,omitempty"`   // written before each line, without an end of its own
	Stderr  string `json:"stderr,omitempty"`  // written to its standard error at the start
	DelayMs int    `json:"delayMs,omitempty"` // before the answer to initialize

	Silent       string `json:"silent,omitempty"`       // a method that is never answered
	Die          string `json:"die,omitempty"`          // a method at which the process ends with status 3
	Deaf         string `json:"deaf,omitempty"`         // a method after which it reads no more
	IgnoreCancel bool   `json:"ignoreCancel,omitempty"` // a cancelled turn goes on
	IgnoreEOF    bool   `json:"ignoreEof,omitempty"`    // it stays when its standard input ends
	Hook         string `json:"hook,omitempty"`         // when its standard input ends it makes this file, and ends when that is gone
	TwoAnswers   bool   `json:"twoAnswers,omitempty"`   // a cancelled prompt is answered again when the next one comes
	IDs          string `json:"ids,omitempty"`          // how the ids of answers are written: "string" or "float"

	Init json.RawMessage `json:"init,omitempty"` // the answer to initialize, instead of the usual one
	New  json.RawMessage `json:"new,omitempty"`  // more fields for the answer to session/new
	Keep bool            `json:"keep,omitempty"` // what is set is answered with New: nothing changed
}

// pick returns the steps for the n-th prompt of a session, counting from 0. found is what Find found in its first.
func (s Script) pick(prompt, found string, n int) []Step {
	var fit []Turn
	for _, t := range s.Turns {
		if strings.Contains(prompt, t.On) && strings.Contains(found, t.Found) {
			fit = append(fit, t)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[min(n, len(fit)-1)].Steps
}

// words returns the text of a prompt.
func words(blocks []agent.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		if text, ok := block.(agent.Text); ok {
			b.WriteString(string(text))
		}
	}
	return b.String()
}
