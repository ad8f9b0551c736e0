package gate

import "familiar/internal/chat"

// addressed ignores talk that is not for us. A recall and a pressed button pass: they hold no words, and concern a
// message that we had or wrote ourselves. An edit passes too: whether we had the message decides, not whether its new
// text still names us.
func addressed(_ *rules, ev chat.Event) opinion {
	switch ev.Body.(type) {
	case chat.Edited, chat.Recalled, chat.Pressed:
		return opinion{}
	}
	if !ev.Addressed {
		return turnAway("addressed", chat.Ignored, "it is not addressed to us")
	}
	return opinion{}
}
