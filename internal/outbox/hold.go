package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// How messages are held back that a network did not take: how often they are tried, and how long they are worth it.
const (
	heldEvery = 10 * time.Second
	heldPause = heldEvery - time.Second // less, so that the next look does not come a moment too early
	heldFor   = time.Hour
)

// errHeld says that a message surely did not go out, and will as soon as its network takes it.
var errHeld = errors.New("it is held back until the network takes it")

// hold is what is known of held messages without asking the disk.
type hold struct {
	any   atomic.Bool
	going sync.Mutex // held by the one that lets messages go, also while a network takes its time

	mu     sync.Mutex           // guards what follows
	until  map[string]time.Time // not before then, by platform
	kept   int                  // how often something was held back
	trying chat.Place           // where a message is tried again now: it is pending, and in front of what is new there
}

// later puts the next try with a platform off, until the latest time that it asked for.
func (h *hold) later(platform string, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at.After(h.until[platform]) {
		h.until[platform] = at
	}
}

// look returns when a platform may be tried again, and how often something was held back so far.
func (h *hold) look(platform string) (time.Time, int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until[platform], h.kept
}

// over notes that nothing is held any more, unless something was held back meanwhile.
func (h *hold) over(kept int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept == kept {
		h.any.Store(false)
	}
}

// holds reports whether a message that was not delivered is to be held back, and for how long at least. Held is what was
// surely not taken, and what can be asked for again without being said twice; and only words: a reaction or an edit that
// comes an hour late is worth nothing.
func holds(p platform.Platform, a chat.Action, err error) (time.Duration, bool) {
	if !words(a) {
		return 0, false
	}
	var later platform.Temporary
	if errors.As(err, &later) {
		return later.After, later.After < heldFor
	}
	return 0, uncertain(err) && p.Abilities().Idempotent
}

func words(a chat.Action) bool {
	_, said := a.(chat.Say)
	return said
}

// keepBack notes that rows are held.
func (o *Outbox) keepBack(ctx context.Context, rows ...row) error {
	o.held.mu.Lock()
	defer o.held.mu.Unlock()
	if err := o.ledger.settle(ctx, held, rows...); err != nil {
		return err
	}
	o.held.kept++
	o.held.any.Store(true)
	return nil
}

// heldBack holds rows back, and returns errHeld. Where the disk refuses, they stay pending, and whether the next start does
// them nobody can tell.
func (o *Outbox) heldBack(ctx context.Context, rows ...row) error {
	if err := o.keepBack(ctx, rows...); err != nil {
		return platform.Uncertain{Err: fmt.Errorf("hold a message back: %w", err)}
	}
	return errHeld
}

// Keep lets held messages go when their networks take them again, in the order in which they were said, until ctx ends.
// One that is not taken within an hour is given up.
func (o *Outbox) Keep(ctx context.Context) {
	again := time.NewTicker(heldEvery)
	defer again.Stop()
	for {
		if o.held.any.Load() {
			if err := o.letGo(ctx); err != nil && ctx.Err() == nil {
				o.deps.Log.Warn("held messages could not be looked at", chat.KeyErr, err)
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// letGo tries every held message once, unless somebody does so already. A network that does not take one is left alone
// with the rest.
func (o *Outbox) letGo(ctx context.Context) error {
	if !o.held.going.TryLock() {
		return nil
	}
	defer o.held.going.Unlock()
	_, kept := o.held.look("")
	rows, err := o.ledger.in(ctx, held)
	if err != nil {
		return fmt.Errorf("read what is held: %w", err)
	}
	left := map[string]bool{} // the platforms whose rest stays, also when their time comes while another is tried
	for _, r := range rows {
		if ctx.Err() != nil {
			return nil // the next start goes on
		}
		on := r.place.Platform
		if until, _ := o.held.look(on); left[on] || o.deps.Now().Before(until) {
			left[on] = true
			continue
		}
		again, err := o.retry(ctx, r)
		if err != nil {
			return err
		}
		if again > 0 {
			o.held.later(on, o.deps.Now().Add(max(again, heldPause)))
			left[on] = true
		}
	}
	if len(left) == 0 {
		o.held.over(kept)
	}
	return nil
}

// retry tries a held message. again is how long to wait for another try, 0 for none. What is tried is pending, so that it
// is not said twice when its end cannot be written down.
func (o *Outbox) retry(ctx context.Context, r row) (again time.Duration, err error) {
	p, on := o.deps.Platforms[r.place.Platform]
	old := o.deps.Now().Sub(r.at) > heldFor
	if !on || old {
		o.deps.Log.Warn("a held message is given up", chat.KeyTurn, r.turn, chat.KeyPlatform, r.place.Platform, "since", r.at)
		return 0, o.ledger.settle(ctx, failed, r)
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliverTime)
	defer cancel()
	if err := o.takeUp(ctx, r); err != nil {
		return 0, err
	}
	receipt, err := o.repeat(limited, p, r)
	if _, more := holds(p, r.action, err); !more && uncertain(err) {
		receipt, err = o.find(ctx, p, r, err)
	}
	if _, more := holds(p, r.action, err); !more && unsure(err) {
		if ctx.Err() != nil { // the next start looks for it, and what is new in its place waits till then
			return 0, ctx.Err()
		}
		o.lost(ctx, r, false)
	}
	return o.putDown(ctx, p, r, receipt, err)
}

// takeUp begins another try of a row. What is said meanwhile in its place still comes after it.
func (o *Outbox) takeUp(ctx context.Context, r row) error {
	o.held.mu.Lock()
	defer o.held.mu.Unlock()
	if err := o.ledger.settle(ctx, pending, r); err != nil {
		return err
	}
	o.held.trying = r.place
	return nil
}

// putDown settles a row that was tried again.
func (o *Outbox) putDown(ctx context.Context, p platform.Platform, r row, receipt chat.Receipt, err error) (again time.Duration, _ error) {
	ctx = context.WithoutCancel(ctx)
	o.held.mu.Lock()
	defer o.held.mu.Unlock()
	o.held.trying = chat.Place{}
	if after, more := holds(p, r.action, err); more {
		return max(after, heldPause), o.ledger.settle(ctx, held, r)
	}
	switch {
	case err == nil:
		o.deps.Log.Info("a held message went out", chat.KeyTurn, r.turn, chat.KeyPlatform, r.place.Platform, "since", r.at)
		o.arrived(ctx, r, receipt)
		return 0, nil
	case unsure(err):
		return 0, o.ledger.settle(ctx, unknown, r)
	}
	o.deps.Log.Warn("a held message was refused", chat.KeyTurn, r.turn, chat.KeyPlatform, r.place.Platform, chat.KeyErr, err)
	return 0, o.ledger.settle(ctx, failed, r)
}

// repeat does what a row says unless the network did it already, at a try of which nobody heard the end. Where the network
// has forgotten the key by now, our own words are looked for.
func (o *Outbox) repeat(ctx context.Context, p platform.Platform, r row) (chat.Receipt, error) {
	if able := p.Abilities(); !able.Idempotent || able.Remembers == 0 || o.deps.Now().Sub(r.at) < able.Remembers {
		return do(ctx, p, r.action)
	}
	m, found, err := ours(ctx, p, r)
	switch {
	case err != nil:
		return chat.Receipt{}, platform.Temporary{Err: fmt.Errorf("look for what was said: %w", err)}
	case found == there:
		return chat.Receipt{Message: m.ID, At: m.At}, nil
	case found == hidden:
		return chat.Receipt{}, errHidden
	}
	return do(ctx, p, r.action)
}

// unsure reports whether nobody can tell if a held message went out.
func unsure(err error) bool { return uncertain(err) || errors.Is(err, errHidden) }

// errHidden says that so much was said since that nobody can tell.
var errHidden = errors.New("whether it was said cannot be told any more")

// behind lets what is held go ahead of something new in its place, and reports whether the new has to wait behind it.
// What is held elsewhere holds nobody up here. Where the disk cannot tell, nothing waits.
func (o *Outbox) behind(ctx context.Context, place chat.Place) bool {
	if !o.holdsBack(ctx, place) {
		return false
	}
	if err := o.letGo(ctx); err != nil {
		o.deps.Log.Warn("held messages could not be looked at", chat.KeyErr, err)
	}
	return o.holdsBack(ctx, place)
}

// holdsBack reports whether something is held in a place.
func (o *Outbox) holdsBack(ctx context.Context, place chat.Place) bool {
	if !o.held.any.Load() {
		return false
	}
	o.held.mu.Lock()
	defer o.held.mu.Unlock()
	if o.held.trying.Same(place) {
		return true
	}
	rows, err := o.ledger.in(ctx, held)
	if err != nil {
		o.deps.Log.Warn("held messages could not be looked at", chat.KeyErr, err)
	}
	return slices.ContainsFunc(rows, func(r row) bool { return r.place.Same(place) })
}
