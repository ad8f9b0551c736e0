package room

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/desk"
)

// room is one conversation: what waits, and what runs.
type room struct {
	queue   []waiting
	turn    *turn         // nil when none runs
	changed chan struct{} // has something when the first in line may have changed
}

// wake lets a room that waits look at its line again.
func (r *room) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// turn is a turn that runs.
type turn struct {
	chat.Turn
	since time.Time
	end   context.CancelCauseFunc

	handed  []chat.Event   // what it was given while it ran
	handing sync.WaitGroup // those that are being given
	deaf    bool           // it takes no more
	gone    map[chat.EventID]bool
}

// causes are all events that the turn answers.
func (t *turn) causes() []chat.Event { return slices.Concat(t.Cause, t.handed) }

// run is the goroutine of a room: it ends when nothing waits any more.
func (rs *Rooms) run(key chat.RoomKey, r *room) {
	for {
		ctx, wait, ok := rs.next(key, r)
		switch {
		case !ok:
			return
		case wait > 0:
			rs.rest(r, wait)
		default:
			rs.attend(ctx, r)
		}
	}
}

// rest waits for more of what is first in line.
func (rs *Rooms) rest(r *room, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.changed:
	case <-rs.leaving:
	}
}

// next takes the first out of the line and readies its turn, or says how long it still waits for more; false when
// the room is to be closed.
func (rs *Rooms) next(key chat.RoomKey, r *room) (ctx context.Context, wait time.Duration, ok bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if len(r.queue) == 0 || rs.closing {
		delete(rs.open, key)
		return nil, 0, false
	}
	first, now := r.queue[0], rs.now()
	if wait := first.until.Sub(now); wait > 0 {
		return nil, wait, true
	}
	r.queue = r.queue[1:]
	last := first.evs[len(first.evs)-1]
	t := chat.NewTurn(last.TurnKind(), last, first.trust, now)
	t.Cause = first.evs
	ctx, end := context.WithCancelCause(rs.base)
	r.turn = &turn{Turn: t, since: first.since, end: end}
	return ctx, 0, true
}

// attend runs the turn of a room from start to end. A panic of the desk is that turn's error and nobody else's.
func (rs *Rooms) attend(ctx context.Context, r *room) {
	t := r.turn // only this goroutine sets it
	var res desk.Result
	var err error
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the turn panicked: %v\n%s", r, debug.Stack())
		}
		if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", cause, err) // whatever broke, it broke because the turn was ended
		}
		ended := t.Turn
		ended.Cause = rs.settle(t)
		rs.hooks.Ended(context.WithoutCancel(ctx), ended, max(t.Began.Sub(t.since), 0), res, err)
		rs.done(r)
	}()
	if err = rs.hooks.Began(ctx, t.Turn); err != nil {
		return
	}
	res, err = rs.desk.Attend(ctx, t.Turn)
}

// settle lets nothing more be handed to a turn, and returns all that it had to answer; what was taken back only where
// there is nothing else.
func (rs *Rooms) settle(t *turn) []chat.Event {
	rs.mu.Lock()
	t.deaf = true
	rs.mu.Unlock()
	t.handing.Wait()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	there := slices.DeleteFunc(t.causes(), func(ev chat.Event) bool { return t.gone[ev.ID] })
	if len(there) == 0 {
		return t.causes()
	}
	return there
}

func (rs *Rooms) done(r *room) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.turn.end(nil)
	r.turn = nil
}
