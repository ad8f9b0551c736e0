// Package room keeps order in conversations. Events of one room wait in line and are attended to one after
// another; rooms run in parallel. Post never blocks: a room that is full answers Busy. What belongs together (an
// album, pictures without words) becomes one turn; edits and recalls reach what waits and what runs. A room exists
// for as long as it has work. Each turn has a context of its own, that Stop, Cancel or Close ends with a cause.
package room

import (
	"context"
	"math"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/desk"
)

// Rooms are all conversations of a bot. Safe for concurrent use.
type Rooms struct {
	desk  desk.Desk
	hooks Hooks
	join  time.Duration
	steer desk.Steerer // nil where what comes while a turn runs waits in line
	now   func() time.Time

	// mu guards what follows and the fields of every room; nothing is called while it is held.
	mu      sync.Mutex
	open    map[chat.RoomKey]*room
	closing bool
	leaving chan struct{} // closed with closing

	base   context.Context // ends when the grace of Close is over
	cancel context.CancelCauseFunc
	idle   sync.WaitGroup // one for each room
}

// Hooks are what the host does around a turn: Began and Ended on the room's goroutine, the others on that of whoever
// called Steer.
type Hooks struct {
	// Began runs before the desk attends; an error ends the turn there.
	Began func(context.Context, chat.Turn) error
	// Ended runs after it, always; ctx is not cancelled by a stop. waited is how long the event was in line. What was
	// handed to the turn stands behind its causes.
	Ended func(ctx context.Context, t chat.Turn, waited time.Duration, res desk.Result, err error)
	// Handing runs before ev is handed to the running turn; an error leaves ev to the line.
	Handing func(ctx context.Context, t chat.Turn, ev chat.Event) error
	// Handed runs when the turn took it, and Returned when it did not after all. The turn does not end before.
	Handed   func(ctx context.Context, t chat.Turn, ev chat.Event)
	Returned func(ctx context.Context, ev chat.Event)
}

// queueLimit is how many turns may wait in one room.
const queueLimit = 20

// New makes the rooms of a desk; ctx is the life of the program.
func New(ctx context.Context, cfg Config, d desk.Desk, hooks Hooks, now func() time.Time) *Rooms {
	base, cancel := context.WithCancelCause(ctx)
	rs := &Rooms{desk: d, hooks: hooks, join: time.Duration(cfg.JoinMs) * time.Millisecond, now: now,
		open: map[chat.RoomKey]*room{}, leaving: make(chan struct{}), base: base, cancel: cancel}
	if cfg.WhileBusy == Steer {
		rs.steer, _ = d.(desk.Steerer)
	}
	return rs
}

// Post puts an event in line. ahead is how many wait or run before it; 0 for one that joined another.
func (rs *Rooms) Post(ev chat.Event, trust chat.Trust) (outcome chat.Outcome, ahead int) {
	key := rs.desk.Room(ev)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.post(key, arrival{ev, trust, rs.now()}, queueLimit)
}

// Resume puts events in line, in order, that were accepted before this process began; no room is too full for them.
// What belonged together then does so now, by the time when it was said; a time that is still to come, as of a clock that
// was set back meanwhile, makes nobody wait for it.
func (rs *Rooms) Resume(trust func(chat.Event) chat.Trust, evs ...chat.Event) {
	keys, trusts := make([]chat.RoomKey, len(evs)), make([]chat.Trust, len(evs))
	for i, ev := range evs {
		keys[i], trusts[i] = rs.desk.Room(ev), trust(ev)
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	now := rs.now()
	for i, ev := range evs {
		at := ev.At
		if at.After(now) {
			at = now
		}
		rs.post(keys[i], arrival{ev, trusts[i], at}, math.MaxInt)
	}
}

// post is called with mu held.
func (rs *Rooms) post(key chat.RoomKey, a arrival, limit int) (outcome chat.Outcome, ahead int) {
	if rs.closing {
		return chat.Accepted, 0 // it is durable, and the next start takes it up
	}
	r, ok := rs.open[key]
	if !ok {
		r = &room{changed: make(chan struct{}, 1)}
		rs.open[key] = r
		rs.idle.Go(func() { rs.run(key, r) })
	}
	defer r.wake()
	if r.joins(a, rs.join) {
		return chat.Accepted, 0
	}
	if len(r.queue) >= limit {
		return chat.Busy, len(r.queue)
	}
	ahead = len(r.queue)
	if r.turn != nil {
		ahead++
	}
	r.queue = append(r.queue, a.waiting(rs.join))
	return chat.Accepted, ahead
}

// Stop ends the turn that runs in the room of ev, and reports whether there was one. What waits in line, and
// whatever comes later, is not touched.
func (rs *Rooms) Stop(ev chat.Event) bool {
	key := rs.desk.Room(ev)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r, ok := rs.open[key]
	if !ok || r.turn == nil {
		return false
	}
	r.turn.end(chat.ErrStopped)
	return true
}

// Cancel ends a turn for a cause, if it still runs.
func (rs *Rooms) Cancel(id chat.TurnID, cause error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.open {
		if r.turn != nil && r.turn.ID == id {
			r.turn.end(cause)
		}
	}
}

// Load is how much there is to do.
type Load struct{ Running, Waiting int }

// Load counts the turns that run and those that wait.
func (rs *Rooms) Load() (l Load) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.open {
		l.Waiting += len(r.queue)
		if r.turn != nil {
			l.Running++
		}
	}
	return l
}

// Leave begins no more turns, and takes no more events: what waits in line, or comes now, was accepted durably and is
// taken up at the next start.
func (rs *Rooms) Leave() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if !rs.closing {
		rs.closing = true
		close(rs.leaving)
	}
}

// Close leaves, lets the running turns end until ctx does, then cancels them with chat.ErrShutdown, and returns when
// the last one has gone.
func (rs *Rooms) Close(ctx context.Context) {
	rs.Leave()
	defer context.AfterFunc(ctx, func() { rs.cancel(chat.ErrShutdown) })()
	rs.idle.Wait()
	rs.cancel(chat.ErrShutdown)
}
