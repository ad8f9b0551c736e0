package gate

import "familiar/internal/chat"

// self ignores what we said ourselves, so that we never answer our own words.
func self(_ *rules, ev chat.Event) opinion {
	if ev.From.Us {
		return turnAway("self", chat.Ignored, "it is our own account")
	}
	return opinion{}
}
