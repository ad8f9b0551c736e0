// Package room keeps order in conversations. Events of one room wait in line and are attended to one after
// another; rooms run in parallel. Post never blocks: a room that is full answers Busy. A room exists for as long
// as it has work. Each turn has a context of its own, that Stop or Close ends with a cause.
package room

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/desk"
)

// Rooms are all conversations of a bot. Safe for concurrent use.
type Rooms struct {
	desk  desk.Desk
	hooks Hooks
	now   func() time.Time

	// mu guards what follows and the fields of every room; nothing is called while it is held.
	mu      sync.Mutex
	open    map[chat.RoomKey]*room
	closing bool

	base   context.Context // ends when the grace of Close is over
	cancel context.CancelCauseFunc
	idle   sync.WaitGroup // one for each room
}

// Hooks are what the host does around a turn, on the room's goroutine.
type Hooks struct {
	// Began runs before the desk attends; an error ends the turn there.
	Began func(context.Context, chat.Turn) error
	// Ended runs after it, always; ctx is not cancelled by a stop. waited is how long the event was in line.
	Ended func(ctx context.Context, t chat.Turn, waited time.Duration, res desk.Result, err error)
}

// queueLimit is how many events may wait in one room.
const queueLimit = 20

// room is one conversation: what waits, and how to end what runs.
type room struct {
	queue   []waiting
	running bool
	stop    context.CancelCauseFunc
}

type waiting struct {
	ev    chat.Event
	trust chat.Trust
	since time.Time
}

// New makes the rooms of a desk; ctx is the life of the program.
func New(ctx context.Context, d desk.Desk, hooks Hooks, now func() time.Time) *Rooms {
	base, cancel := context.WithCancelCause(ctx)
	return &Rooms{desk: d, hooks: hooks, now: now, open: map[chat.RoomKey]*room{}, base: base, cancel: cancel}
}

// Post puts an event in line. ahead is how many wait or run before it.
func (rs *Rooms) Post(ev chat.Event, trust chat.Trust) (outcome chat.Outcome, ahead int) {
	return rs.post(ev, trust, queueLimit)
}

// Resume puts an event in line that was accepted before this process began; no room is too full for it.
func (rs *Rooms) Resume(ev chat.Event, trust chat.Trust) { rs.post(ev, trust, math.MaxInt) }

func (rs *Rooms) post(ev chat.Event, trust chat.Trust, limit int) (outcome chat.Outcome, ahead int) {
	key := rs.desk.Room(ev)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closing {
		return chat.Accepted, 0 // it is durable, and the next start takes it up
	}
	r, ok := rs.open[key]
	if !ok {
		r = &room{}
		rs.open[key] = r
		rs.idle.Go(func() { rs.run(key, r) })
	}
	if len(r.queue) >= limit {
		return chat.Busy, len(r.queue)
	}
	ahead = len(r.queue)
	if r.running {
		ahead++
	}
	r.queue = append(r.queue, waiting{ev, trust, rs.now()})
	return chat.Accepted, ahead
}

// Stop ends the turn that runs in the room of ev, and reports whether there was one. What waits in line, and
// whatever comes later, is not touched.
func (rs *Rooms) Stop(ev chat.Event) bool {
	return rs.stop(func(key chat.RoomKey) bool { return key == rs.desk.Room(ev) }) > 0
}

func (rs *Rooms) stop(which func(chat.RoomKey) bool) (stopped int) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for key, r := range rs.open {
		if r.running && which(key) {
			r.stop(chat.ErrStopped)
			stopped++
		}
	}
	return stopped
}

// Load is how much there is to do.
type Load struct{ Running, Waiting int }

// Load counts the turns that run and the events that wait.
func (rs *Rooms) Load() (l Load) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.open {
		l.Waiting += len(r.queue)
		if r.running {
			l.Running++
		}
	}
	return l
}

// Close takes no more events, lets the running turns end until ctx does, then cancels them with
// chat.ErrShutdown, and returns when the last one has gone. What waited in line was accepted durably and is
// taken up at the next start.
func (rs *Rooms) Close(ctx context.Context) {
	rs.mu.Lock()
	rs.closing = true
	rs.mu.Unlock()
	defer context.AfterFunc(ctx, func() { rs.cancel(chat.ErrShutdown) })()
	rs.idle.Wait()
	rs.cancel(chat.ErrShutdown)
}

// run is the goroutine of a room: it ends when nothing waits any more.
func (rs *Rooms) run(key chat.RoomKey, r *room) {
	for {
		next, ctx, ok := rs.next(key, r)
		if !ok {
			return
		}
		rs.attend(ctx, next)
		rs.done(r)
	}
}

// next takes the first event out of the line and readies its turn; false when the room is to be closed.
func (rs *Rooms) next(key chat.RoomKey, r *room) (waiting, context.Context, bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if len(r.queue) == 0 || rs.closing {
		delete(rs.open, key)
		return waiting{}, nil, false
	}
	next := r.queue[0]
	r.queue = r.queue[1:]
	ctx, stop := context.WithCancelCause(rs.base)
	r.running, r.stop = true, stop
	return next, ctx, true
}

func (rs *Rooms) done(r *room) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r.stop(nil)
	r.running, r.stop = false, nil
}

// attend runs one turn from start to end. A panic of the desk is that turn's error and nobody else's.
func (rs *Rooms) attend(ctx context.Context, w waiting) {
	t := chat.NewTurn(chat.Talk, w.ev, w.trust, rs.now())
	var res desk.Result
	var err error
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the turn panicked: %v\n%s", r, debug.Stack())
		}
		rs.hooks.Ended(context.WithoutCancel(ctx), t, t.Began.Sub(w.since), res, err)
	}()
	if err = rs.hooks.Began(ctx, t); err != nil {
		return
	}
	res, err = rs.desk.Attend(ctx, t)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err) // whatever broke, it broke because the turn was ended
	}
}
