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

	mu       sync.Mutex
	turn     *chat.Turn
	ended    context.Context
	end      context.CancelCauseFunc
	attempts map[string]int
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end(ErrNoTurn)
	}
	s.ended, s.end = context.WithCancelCause(ctx)
	s.turn, s.attempts = &t, map[string]int{}
}

// End refuses calls from now on, and ends those that run.
func (s *Seat) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil {
		s.end(ErrNoTurn)
	}
	s.turn, s.end = nil, nil
}

// Call runs a tool for the present turn.
func (s *Seat) Call(ctx context.Context, name string, args json.RawMessage) (Result, error) {
	turn, ended, looped, err := s.enter(name)
	if err != nil {
		return Result{}, err
	}
	if looped {
		defer afterAnswer(ctx, func() { s.looping(name) })
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, seated{}, s.session))
	defer cancel(nil)
	defer context.AfterFunc(ended, func() { cancel(ErrNoTurn) })()
	return s.box.Call(ctx, turn, name, args)
}

// seated is the context key of the session that a call comes from.
type seated struct{}

// SessionOf returns the id of the agent's session that a call comes from, "" when no agent made it.
func SessionOf(ctx context.Context) string {
	session, _ := ctx.Value(seated{}).(string)
	return session
}

// enter counts the attempt and returns the turn that it belongs to.
func (s *Seat) enter(name string) (turn chat.Turn, ended context.Context, looped bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil || s.ended.Err() != nil {
		return chat.Turn{}, nil, false, ErrNoTurn
	}
	if !s.names[name] {
		return chat.Turn{}, nil, false, Fault{404, fmt.Sprintf("there is no tool %q here", name)}
	}
	s.attempts[name]++
	t, _ := s.box.Find(name)
	return *s.turn, s.ended, t.Attempts > 0 && s.attempts[name] > t.Attempts, nil
}
