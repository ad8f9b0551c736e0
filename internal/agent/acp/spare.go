package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/tool"
	"familiar/internal/workspace"
)

const (
	// spareIdle is how long a process waits for work before it is ended: memory is dearer than a cold start for
	// somebody who has gone.
	spareIdle = 10 * time.Minute
	// spareTouch is how often a process that waits keeps its door open.
	spareTouch = 30 * time.Second
	// spareWait is how long whoever claims a process waits for it to get ready: for much longer than that, a new one
	// is as quick.
	spareWait = 3 * time.Second
	// promiseTime is how long a session may take to open after its id was given out.
	promiseTime = time.Minute
)

// spareKey says for whom a process waits: it is confined to one person's folders, and works for one kind of place.
type spareKey struct {
	platform, user string
	notes          bool
	at             chat.PlaceKind
}

func keyOf(ref workspace.Ref, at chat.PlaceKind) spareKey {
	return spareKey{ref.Platform, ref.User, ref.Notes, at}
}

// spare is a session that nobody uses yet: its process runs, its conversation is open, and nothing was ever said in
// it. Its id and its token were made when it was started; the seat comes when it is claimed.
type spare struct {
	key      spareKey
	session  string // its id
	promised bool   // the id was given out; guarded by the agent's mutex
	leaving  bool   // it ends by itself; guarded by the agent's mutex
	place    *tool.Vacancy
	opening  agent.Opening

	made  *session      // set before ready is closed; nil when it could not be started
	ready chan struct{} // closed when it waits, or has failed and nothing of it is left
	taken chan struct{} // closed when it is claimed
	begun chan struct{} // closed when it was promised
	let   chan struct{} // closed when it is to go
	ended chan struct{} // closed when nothing of it is left, or it was claimed
}

// leastMemory is how much memory a machine has at least before an agent waits in it, in bytes: some agents take most
// of a gibibyte.
const leastMemory = 4 << 30

// spares returns how many processes may wait on a machine with so much memory, of which 0 says that nobody knows.
func (c Config) spares(memory uint64) int {
	if memory > 0 && memory < leastMemory {
		return 0
	}
	return max(c.WarmSpare, 0)
}

// Session returns the id for the next session of a workspace in a kind of place: that of a process that waits for
// exactly this, else a new one. Whoever asks opens the session soon.
func (a *Agent) Session(ref workspace.Ref, at chat.PlaceKind) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, sp := range a.spares {
		if sp.key == keyOf(ref, at) && sp.free() {
			sp.promised = true
			close(sp.begun)
			return sp.session
		}
	}
	return tool.NewSession(time.Now())
}

// free reports whether nobody counts on the process yet. The mutex is held.
func (sp *spare) free() bool { return !sp.promised && !sp.leaving }

// claim returns the session that waits under the opening's id, bound to its seat; nil when a new one has to be made, and
// nothing of it is left.
func (a *Agent) claim(ctx context.Context, o agent.Opening) *session {
	a.mu.Lock()
	at := slices.IndexFunc(a.spares, func(sp *spare) bool { return sp.session == callerSession(o) })
	if at < 0 {
		a.mu.Unlock()
		return nil
	}
	sp := a.spares[at]
	a.spares = slices.Delete(a.spares, at, at+1)
	fits := !sp.leaving && sp.key == keyOf(o.Workspace, o.At) && o.Resume == "" && o.Tools != nil
	if fits {
		close(sp.taken)
	} else {
		close(sp.let)
	}
	a.mu.Unlock()
	if !fits {
		<-sp.ended
		return nil
	}
	err := sp.await(ctx)
	s := sp.made
	if s == nil {
		return nil
	}
	if err == nil {
		err = sp.place.Take(o.Tools)
	}
	if err == nil {
		err = s.adjust(ctx, sp.opening, o)
	}
	if err != nil {
		s.log.Warn("the agent that waited cannot be used; another is started", chat.KeyErr, errors.Join(err, s.Close()))
		return nil
	}
	s.next = a.following(o)
	return s
}

// errSlow says that a process which should wait did not get ready.
var errSlow = errors.New("it is not ready yet")

// await waits for a process that was claimed to be ready. When whoever asked has gone, or has waited for long enough,
// it is ended first, and the error is not nil.
func (sp *spare) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, spareWait, errSlow)
	defer cancel()
	select {
	case <-sp.ready:
		return context.Cause(ctx)
	case <-ctx.Done():
		close(sp.let)
		<-sp.ended
		return context.Cause(ctx)
	}
}

// adjust makes a session that was opened as was what it is wanted for.
func (s *session) adjust(ctx context.Context, was, o agent.Opening) error {
	select {
	case <-s.conn.dead:
		return fmt.Errorf("it ended while it waited: %w", s.conn.gone())
	default:
	}
	s.conn.stamp()
	if o.Model == was.Model && o.Mode == was.Mode {
		return nil
	}
	return s.within(ctx, "choose model and mode", func(ctx context.Context) error { return s.choose(ctx, o) })
}

// following returns what follows a session: another process for the same workspace, which spoke last. nil when none
// is kept waiting.
func (a *Agent) following(o agent.Opening) func(context.Context) {
	if a.warm == 0 || o.Tools == nil || o.Workspace.Notes { // a copy of the notes is made when the session begins
		return nil
	}
	key, tools, model := keyOf(o.Workspace, o.At), o.Tools.Tools(), o.Model
	return func(life context.Context) { a.keepWarm(life, key, tools, model) }
}

// keepWarm starts a process that waits for the key's next session. The oldest that waits is let go for it when there
// are as many as there may be; one that waits for the same is enough.
func (a *Agent) keepWarm(life context.Context, key spareKey, tools []tool.Tool, model string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	same := func(sp *spare) bool { return sp.key == key && sp.free() }
	if a.leaving || slices.ContainsFunc(a.spares, same) {
		return
	}
	var before *spare
	if len(a.spares) >= a.warm {
		if before = a.letOldest(); before == nil {
			return
		}
	}
	id := tool.NewSession(time.Now())
	sp := &spare{key: key, session: id, place: tool.NewVacancy(id, tools), ready: make(chan struct{}), taken: make(chan struct{}),
		begun: make(chan struct{}), let: make(chan struct{}), ended: make(chan struct{})}
	sp.opening = agent.Opening{Tools: sp.place, Model: model, At: key.at,
		Workspace: workspace.Ref{Platform: key.platform, User: key.user, Session: id, Notes: key.notes}}
	a.spares = append(a.spares, sp)
	a.tending.Go(func() { a.tend(life, sp, before) })
}

// makeRoom lets the process go that has waited longest, if one waits.
func (a *Agent) makeRoom() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.letOldest()
}

// letOldest takes the process that has waited longest out of those that wait, and tells its tender; nil when there
// is none. One whose id was given out is as good as used. The mutex is held.
func (a *Agent) letOldest() *spare {
	at := slices.IndexFunc(a.spares, (*spare).free)
	if at < 0 {
		return nil
	}
	sp := a.spares[at]
	a.spares = slices.Delete(a.spares, at, at+1)
	close(sp.let)
	return sp
}

// tend owns a process that waits, from its start until it is claimed or gone. before is the one whose place it takes.
func (a *Agent) tend(life context.Context, sp, before *spare) {
	defer close(sp.ended)
	if before != nil {
		<-before.ended
	}
	a.prepare(life, sp)
	close(sp.ready)
	if sp.made == nil {
		a.forgetSpare(sp)
		return
	}
	if a.waits(sp) || !a.dismiss(sp) {
		return // it was claimed
	}
	if err := sp.made.Close(); err != nil {
		a.log.Warn("an agent that waited did not end well", chat.KeyErr, err)
	}
	a.forgetSpare(sp)
}

// prepare starts the process and opens its conversation. It gives way to everybody: without a free slot there is
// none. What fails is only a spare: the next session says why agents do not start.
func (a *Agent) prepare(life context.Context, sp *spare) {
	select {
	case a.slots <- struct{}{}:
	default:
		return
	}
	ctx, cancel := context.WithCancelCause(life)
	defer cancel(nil)
	s := a.seat(ctx, sp.opening)
	var heed sync.WaitGroup
	heed.Go(func() {
		select {
		case <-ctx.Done():
		case <-sp.let:
			cancel(errClosed)
		case <-a.leave:
			cancel(chat.ErrShutdown)
		}
	})
	err := s.open(ctx, sp.opening)
	cancel(nil)
	heed.Wait()
	if err == nil {
		sp.made = s
		return
	}
	a.log.Debug("no agent is kept waiting", chat.KeyErr, errors.Join(err, s.Close()))
}

// waits keeps the process until it is claimed, which it reports, or has to go.
func (a *Agent) waits(sp *spare) (claimed bool) {
	idle := time.NewTimer(spareIdle)
	defer idle.Stop()
	touch := time.NewTicker(spareTouch)
	defer touch.Stop()
	begun := sp.begun
	for {
		select {
		case <-sp.taken:
			return !told(sp.let)
		case <-begun:
			begun = nil
			idle.Reset(promiseTime)
		case <-touch.C:
			if sp.made.door.Touch != nil {
				sp.made.door.Touch()
			}
		case <-sp.let:
			return false
		case <-a.leave:
			return false
		case <-sp.made.over:
			return false
		case <-idle.C:
			return false
		}
	}
}

// dismiss reports whether a process is to be ended by its tender: it has to go, or nobody has claimed it. Whoever was
// given its id finds it until nothing of it is left.
func (a *Agent) dismiss(sp *spare) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	sp.leaving = true
	return slices.Contains(a.spares, sp) || told(sp.let)
}

// forgetSpare takes a process out of those that wait, where it is still one of them.
func (a *Agent) forgetSpare(sp *spare) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spares = slices.DeleteFunc(a.spares, func(other *spare) bool { return other == sp })
}

// told reports whether a channel is closed.
func told(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
