package webhook

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"familiar/internal/chat"
)

// How much is sent at once, and how long it waits.
const (
	senders    = 8
	looked     = 200              // heads that are looked at; more than senders, so that a slow chat holds up no other
	longest    = 10 * time.Minute // between two attempts, unless the other side asks for more
	mostAsked  = time.Hour        // and it is not given more than that
	idle       = time.Hour
	afterFault = 5 * time.Second // until the database is asked again
	lastTime   = 3 * time.Second // for what was said while the program left
)

// Deliver sends what is queued until ctx ends; what was said shortly before is still tried once. One goroutine calls it.
// It outlives Run, since the last turns speak after nothing more is heard. It returns nil.
func (w *Webhook) Deliver(ctx context.Context) error {
	if w.cfg.ReplyURL == "" {
		<-ctx.Done()
		return nil
	}
	defer w.client.CloseIdleConnections()
	round := &round{w: w, busy: map[string]bool{}, slots: make(chan struct{}, senders)}
	for ctx.Err() == nil {
		wait := round.begin(ctx, func(head) bool { return true })
		due := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-w.woken:
		case <-due.C:
		}
		due.Stop()
	}
	round.sending.Wait()
	w.sendLast(ctx, round)
	return nil
}

// sendLast tries once what nobody had tried yet.
func (w *Webhook) sendLast(ctx context.Context, r *round) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	r.begin(last, func(h head) bool { return h.tries == 0 })
	r.sending.Wait()
}

// round is what is being sent.
type round struct {
	w       *Webhook
	sending sync.WaitGroup
	slots   chan struct{}

	mu   sync.Mutex
	busy map[string]bool // chats of which a letter is under way
}

// begin starts the sending of what is due and allowed, and returns how long nothing else will be due.
func (r *round) begin(ctx context.Context, may func(head) bool) time.Duration {
	heads, err := r.w.heads(ctx, looked)
	if err != nil {
		if ctx.Err() == nil {
			r.w.deps.Log.Error("the queue of replies could not be read", chat.KeyPlatform, Name, chat.KeyErr, err.Error())
		}
		return afterFault
	}
	now := time.Now()
	for _, h := range heads {
		if h.due.After(now) {
			return h.due.Sub(now)
		}
		if !may(h) || !r.claim(h.place) {
			continue
		}
		select {
		case r.slots <- struct{}{}:
		default:
			r.give(h.place)
			return idle // whoever ends wakes
		}
		r.sending.Go(func() {
			wait := r.w.deliver(ctx, h)
			<-r.slots
			if wait > 0 { // the database would not take what became of it: not at once again
				pause(ctx, wait)
			}
			r.give(h.place)
			r.w.wake()
		})
	}
	return idle
}

func pause(ctx context.Context, wait time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(wait):
	}
}

func (r *round) claim(place string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[place] {
		return false
	}
	r.busy[place] = true
	return true
}

func (r *round) give(place string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.busy, place)
}

// deliver makes one attempt and notes what came of it. A wait that is not 0 says that this could not be noted.
func (w *Webhook) deliver(ctx context.Context, h head) (wait time.Duration) {
	body, err := w.body(ctx, h)
	if errors.Is(err, sql.ErrNoRows) {
		return 0
	}
	if err == nil {
		err = w.note(ctx, h, w.send(ctx, h.id, body))
	}
	if err == nil || ctx.Err() != nil {
		return 0
	}
	w.deps.Log.Error("the queue of replies could not be kept", chat.KeyPlatform, Name, "letter", h.id, chat.KeyErr, err.Error())
	return afterFault
}

// note writes down what came of an attempt, even when ctx has ended meanwhile.
func (w *Webhook) note(ctx context.Context, h head, v verdict) error {
	keep := context.WithoutCancel(ctx)
	switch {
	case v.taken:
		return w.settle(keep, h)
	case ctx.Err() != nil: // broken off by us: it does not count
		return nil
	case v.final || h.tries+1 >= w.cfg.MaxAttempts:
		w.deps.Log.Warn("a reply is a dead letter now", chat.KeyPlatform, Name, "letter", h.id, "attempts", h.tries+1, chat.KeyErr, v.fault)
		return w.bury(keep, h, v.fault)
	}
	return w.postpone(keep, h, time.Now().Add(max(w.backOff(h.tries+1), min(v.after, mostAsked))), v.fault)
}

// backOff is the wait after so many attempts: it doubles, and the upper half of it is left to chance, so that what
// failed together does not come together again.
func (w *Webhook) backOff(tries int) time.Duration {
	wait := time.Duration(w.cfg.RetryMs) * time.Millisecond
	for range tries - 1 {
		if wait >= longest {
			break
		}
		wait *= 2
	}
	wait = min(wait, longest)
	return wait/2 + rand.N(wait/2+1)
}
