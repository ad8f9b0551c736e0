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
	busy map[chat.TurnID]*writing
}

// writing is a turn for which it is shown. The typist's mutex guards it.
type writing struct {
	stop  func() // ends it, and waits for the end
	waits int    // questions to a person that the turn waits for: meanwhile nobody writes
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
		y.busy = map[chat.TurnID]*writing{}
	}
	y.busy[t.ID] = &writing{stop: func() { cancel(); <-ended }}
}

func (y *typist) keep(ctx context.Context, t chat.Turn) {
	again := time.NewTicker(typingEvery)
	defer again.Stop()
	for ctx.Err() == nil && (y.waits(t) || y.show(ctx, t)) {
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
	w := y.busy[t.ID]
	delete(y.busy, t.ID)
	y.mu.Unlock()
	if w != nil {
		w.stop()
	}
}

// pause shows nothing for the turn until what it returns is called: it waits for a person.
func (y *typist) pause(t chat.Turn) (resume func()) {
	y.asks(t, 1)
	return func() { y.asks(t, -1) }
}

// asks counts the questions that a turn waits for.
func (y *typist) asks(t chat.Turn, more int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if w := y.busy[t.ID]; w != nil {
		w.waits += more
	}
}

// waits reports whether a turn waits for a person.
func (y *typist) waits(t chat.Turn) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	w := y.busy[t.ID]
	return w != nil && w.waits > 0
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
