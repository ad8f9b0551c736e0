package gate

import "familiar/internal/chat"

// ownSource lets in what our own sources hear: a clock, a surface, work that ended. The rules about people are not
// for them, and no platform can make such a body.
func ownSource(_ *rules, ev chat.Event) opinion {
	switch ev.Body.(type) {
	case chat.Woke, chat.Noticed, chat.Settled:
		return letIn("source", "comes from a source of our own")
	}
	return opinion{}
}
