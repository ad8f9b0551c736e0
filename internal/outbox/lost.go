package outbox

import (
	"context"

	"familiar/internal/chat"
)

// Lost is words of which nobody can tell whether they arrived, and whose turn is over.
type Lost struct {
	Event   chat.EventID // what they were said to
	Place   chat.Place
	Answers chat.MessageID // "" where they answer no message
	Cut     bool           // a crash came between, perhaps in the turn itself
}

// lost lets the person know of words that a turn can no longer speak of: they were held back, or a crash came between. It
// comes before the row is settled, so that a crash here tells again and not never. Nobody asked for what the clock said,
// and nobody misses a word of the host's own.
func (o *Outbox) lost(ctx context.Context, r row, cut bool) {
	if say, is := r.action.(chat.Say); is && r.why == chat.Talk {
		o.deps.Lost(context.WithoutCancel(ctx), Lost{r.event, r.place, say.ReplyTo, cut})
	}
}
