package host

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"familiar/internal/chat"
)

// wakes are the events of the clock that somebody waits for the end of.
type wakes struct {
	mu sync.Mutex
	at map[chat.EventID]chan<- woken
}

// woken is what the turn of such an event came to.
type woken struct {
	replied bool
	err     error
}

// wake lets an event of the clock be heard like any other, and returns when its turn has ended, or ctx. replied is
// whether somebody got to see something, by this turn or by the one of the same event before the last start.
func (h *Host) wake(ctx context.Context, ev chat.Event) (replied bool, err error) {
	end := make(chan woken, 1)
	h.wakes.mu.Lock()
	h.wakes.at[ev.ID] = end
	h.wakes.mu.Unlock()
	defer func() {
		h.wakes.mu.Lock()
		defer h.wakes.mu.Unlock()
		delete(h.wakes.at, ev.ID)
	}()
	switch outcome := h.hear(ctx, ev); outcome {
	case chat.Accepted:
	case chat.Repeat:
		return h.outbox.Replied(ctx, ev.ID)
	default:
		return false, fmt.Errorf("the event was %s", outcome)
	}
	select {
	case w := <-end:
		return w.replied, w.err
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

// wakened tells whoever waits that a turn has ended.
func (h *Host) wakened(t chat.Turn, replied bool, err error) {
	h.wakes.mu.Lock()
	defer h.wakes.mu.Unlock()
	for _, ev := range t.Cause {
		if end := h.wakes.at[ev.ID]; end != nil {
			end <- woken{replied, err} // there is room: a turn ends once
			delete(h.wakes.at, ev.ID)
		}
	}
}

// reawake settles an event of the clock whose turn the end of the process cut off, and reports whether it is one. Where
// somebody had got to see something it is done. Else it is forgotten: its job was cut off with it, so the clock brings
// it again.
func (h *Host) reawake(ctx context.Context, ev chat.Event) bool {
	woke, is := ev.Body.(chat.Woke)
	if !is {
		return false
	}
	ctx = context.WithoutCancel(ctx)
	seen, err := h.outbox.Replied(ctx, ev.ID)
	if err == nil && seen && woke.Job == chat.ReminderSession { // better twice than never
		var doubt bool
		doubt, err = h.outbox.Doubt(ctx, ev.ID)
		seen = !doubt
	}
	if err == nil && seen {
		h.close(ctx, ev)
		return true
	}
	if err := errors.Join(err, h.inbox.Drop(ctx, ev)); err != nil {
		h.log.Error("an event of the clock is not settled", chat.KeyEvent, ev.ID, chat.KeyErr, err)
	}
	return true
}
