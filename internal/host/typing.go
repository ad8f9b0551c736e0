package host

import (
	"context"
	"sync"
	"time"

	"familiar/internal/chat"
)

// typingEvery is how often a network is told anew that an answer is being written: what it shows fades in about that time.
const typingEvery = 10 * time.Second

// typist shows, from the beginning of a turn to its end, that an answer is being written. It is lossy. Safe for
// concurrent use; begin and end of one turn come in this order.
type typist struct {
	show func(ctx context.Context, t chat.Turn) bool // false: the network cannot show it

	mu   sync.Mutex
	busy map[chat.TurnID]func() // ends it, and waits for the end
}

func (y *typist) begin(ctx context.Context, t chat.Turn) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		y.keep(ctx, t)
	}()
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.busy == nil {
		y.busy = map[chat.TurnID]func(){}
	}
	y.busy[t.ID] = func() { cancel(); <-ended }
}

func (y *typist) keep(ctx context.Context, t chat.Turn) {
	again := time.NewTicker(typingEvery)
	defer again.Stop()
	for ctx.Err() == nil && y.show(ctx, t) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// end returns when nothing more will be shown for the turn.
func (y *typist) end(t chat.Turn) {
	y.mu.Lock()
	stop := y.busy[t.ID]
	delete(y.busy, t.ID)
	y.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// typing tells the network of a turn, where it can show it.
func (h *Host) typing(ctx context.Context, t chat.Turn) bool {
	p, on := h.platforms[t.Place.Platform]
	if !on || !p.Abilities().Typing {
		return false
	}
	if _, err := h.outbox.Do(ctx, t, chat.Typing{Place: t.Place}); err != nil && ctx.Err() == nil {
		h.log.Debug("typing was not shown", chat.KeyTurn, t.ID, chat.KeyErr, err)
	}
	return true
}
