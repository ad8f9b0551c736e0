package outbox

import (
	"context"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// looks are how long it takes, after the last one, until a network that may have taken our words is looked at again:
// what it took while we no longer listened may show only when it has caught up.
var looks = []time.Duration{time.Second, 4 * time.Second, 10 * time.Second}

// find looks for words of which nobody knows whether the network took them, for as long as a delivery may take at most.
// What is not found may still be there, and is not said again: doubt is returned.
func (o *Outbox) find(ctx context.Context, p platform.Platform, r row, doubt error) (chat.Receipt, error) {
	_, can := p.(platform.Historian)
	if _, _, seen := worded(r.action); !can || !seen {
		return chat.Receipt{}, doubt
	}
	ctx, cancel := context.WithTimeout(ctx, deliverTime)
	defer cancel()
	for _, pause := range looks {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return chat.Receipt{}, doubt
		}
		if receipt, found := lookFor(ctx, p, r); found == there {
			o.deps.Log.Info("a message arrived whose answer was lost", chat.KeyTurn, r.turn, chat.KeyPlatform, r.place.Platform)
			return receipt, nil
		}
	}
	return chat.Receipt{}, doubt
}

// lookFor looks once whether the words of a row were said. Other deeds cannot be seen, nor can where nobody can look.
func lookFor(ctx context.Context, p platform.Platform, r row) (chat.Receipt, sight) {
	m, found, err := ours(ctx, p, r)
	if err != nil {
		return chat.Receipt{}, hidden
	}
	return chat.Receipt{Message: m.ID, At: m.At}, found
}

// Doubtful reports whether nobody can tell if what a turn said arrived. After Forget it does not know any more.
func (o *Outbox) Doubtful(t chat.Turn) (is bool) {
	o.count(t, func(c *tally) { is = c.doubt })
	return is
}
