package tool

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"familiar/internal/chat"
)

// Caller is an agent session's way to the tools, whatever face it uses.
type Caller interface {
	// Session is the id that the skill API and the audit know the session by: sess_{base36 ms}_{32 hex}.
	Session() string
	Tools() []Tool
	// Call runs a tool for the turn that is running now; ErrNoTurn when there is none.
	Call(ctx context.Context, name string, args json.RawMessage) (Result, error)
}

// Seat is one agent session's place at the box. A call counts for the turn that runs now, and is refused when
// none does; a call that runs when the turn ends has its context ended. Safe for concurrent use.
type Seat struct {
	box     *Box
	session string
	names   map[string]bool
	looping func(tool string)

	mu   sync.Mutex
	turn *running // nil while none runs
}

// running is the turn that calls count for. The seat's mutex guards what changes.
type running struct {
	turn     chat.Turn
	ctx      context.Context
	end      context.CancelCauseFunc
	attempts map[string]int
	calls    int           // that run now
	rest     chan struct{} // closed while none does
}

// NewSession mints a session id.
func NewSession(now time.Time) string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return "sess_" + strconv.FormatInt(now.UnixMilli(), 36) + "_" + hex.EncodeToString(id[:])
}

// Seat makes a seat with the named tools. looping, which must not block, is called when a tool was called more
// often in one turn than its Attempts allow, after the answer to that call is out.
func (b *Box) Seat(session string, names []string, looping func(tool string)) *Seat {
	allowed := make(map[string]bool, len(names))
	for _, name := range names {
		allowed[name] = true
	}
	return &Seat{box: b, session: session, names: allowed, looping: looping}
}

// Session returns the seat's id.
func (s *Seat) Session() string { return s.session }

// Tools returns what may be called from here.
func (s *Seat) Tools() []Tool {
	var tools []Tool
	for _, t := range s.box.Tools() {
		if s.names[t.Name] {
			tools = append(tools, t)
		}
	}
	return tools
}

// Begin makes t the turn that calls count for, until End, or until ctx, which is the turn's, ends.
func (s *Seat) Begin(ctx context.Context, t chat.Turn) {
	s.End()
	now := &running{turn: t, attempts: map[string]int{}, rest: make(chan struct{})}
	now.ctx, now.end = context.WithCancelCause(ctx)
	close(now.rest)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = now
}

// End refuses calls from now on, ends those that run, and returns when they have ended: whatever the turn did is done
// then.
func (s *Seat) End() {
	s.mu.Lock()
	now := s.turn
	s.turn = nil
	s.mu.Unlock()
	if now != nil {
		now.end(ErrNoTurn)
		<-s.rest(now)
	}
}

// Settle waits until no call runs, or ctx ends: an agent may end its turn without waiting for what it began.
func (s *Seat) Settle(ctx context.Context) {
	s.mu.Lock()
	now := s.turn
	s.mu.Unlock()
	if now == nil {
		return
	}
	select {
	case <-s.rest(now):
	case <-ctx.Done():
	}
}

// rest is closed when no call of a turn runs.
func (s *Seat) rest(now *running) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.rest
}

// Call runs a tool for the present turn.
func (s *Seat) Call(ctx context.Context, name string, args json.RawMessage) (Result, error) {
	now, looped, err := s.enter(name)
	switch {
	case err != nil && now != nil: // whoever records hears of what was tried, too
		s.box.seen(now.turn, Call{Tool: name, Args: args, Err: err})
		return Result{}, err
	case err != nil:
		return Result{}, err
	}
	defer s.leave(now)
	if looped {
		defer afterAnswer(ctx, func() { s.looping(name) })
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, seated{}, s.session))
	defer cancel(nil)
	defer context.AfterFunc(now.ctx, func() { cancel(ErrNoTurn) })()
	return s.box.Call(ctx, now.turn, name, args)
}

// seated is the context key of the session that a call comes from.
type seated struct{}

// SessionOf returns the id of the agent's session that a call comes from, "" when no agent made it.
func SessionOf(ctx context.Context) string {
	session, _ := ctx.Value(seated{}).(string)
	return session
}

// enter counts the attempt, and returns the turn that it belongs to, which waits for leave. A tool that is not there is an
// error, with the turn in which it was called.
func (s *Seat) enter(name string) (now *running, looped bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now = s.turn; now == nil || now.ctx.Err() != nil {
		return nil, false, ErrNoTurn
	}
	if !s.names[name] {
		return now, false, Fault{404, fmt.Sprintf("there is no tool %q here", name)}
	}
	if now.calls++; now.calls == 1 {
		now.rest = make(chan struct{})
	}
	now.attempts[name]++
	t, _ := s.box.Find(name)
	return now, t.Attempts > 0 && now.attempts[name] > t.Attempts, nil
}

// leave notes that a call has ended.
func (s *Seat) leave(now *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.calls--; now.calls == 0 {
		close(now.rest)
	}
}
