package gate

import "familiar/internal/chat"

// bot ignores other programs: two of them would answer each other for ever.
func bot(_ *rules, ev chat.Event) opinion {
	if ev.From.Bot {
		return turnAway("bot", chat.Ignored, "the platform says that the author is a program")
	}
	return opinion{}
}
