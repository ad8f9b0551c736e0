package briefing

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/chat"
)

const clearWord = "/clear"

// IsClear reports whether a message is the command that makes us forget the conversation so far: it begins,
// white space aside, with the word /clear, whatever follows it.
func IsClear(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(text, unicode.IsSpace), clearWord)
	if !ok || rest == "" {
		return ok
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsSpace(next)
}

// sinceClear drops the last message that says /clear, whoever said it, and everything before it. Messages are
// oldest first.
func sinceClear(messages []chat.Message) []chat.Message {
	for i := len(messages) - 1; i >= 0; i-- {
		if IsClear(messages[i].Text) {
			return messages[i+1:]
		}
	}
	return messages
}
