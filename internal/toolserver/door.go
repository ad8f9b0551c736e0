package toolserver

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"familiar/internal/chat"
	"familiar/internal/secret"
	"familiar/internal/tool"
)

// maxAtOnce is how many calls of one session run at once; a model asks for a handful.
const maxAtOnce = 32

// door is one session's way in.
type door struct {
	seat  tool.Caller
	token secret.Value
	mcp   *mcp.Server
	calls calls
	slots chan struct{}

	//nolint:containedctx // a call outlives its request; this is how the end of the session reaches it
	life context.Context
	end  context.CancelCauseFunc

	mu   sync.Mutex
	seen time.Time // last activity
}

var errOff = errors.New("skillApi.enabled is false: an agent process cannot reach its tools; enable it, or use the built-in agent")

// Admit opens a door for the session of seat. The door is open until it is closed, was idle for longer than
// sessionTimeoutMs, or the server left. A second door of one session is refused.
func (s *Server) Admit(seat tool.Caller) (tool.Door, error) {
	if !s.cfg.Enabled {
		return tool.Door{}, fmt.Errorf("admit a session: %w", errOff)
	}
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the program instead
	token := hex.EncodeToString(raw[:])
	d := &door{seat: seat, token: secret.New(token), slots: make(chan struct{}, maxAtOnce), seen: s.now()}
	d.calls.now = s.now
	d.mcp = s.mcpServer(d)
	if err := s.hang(d); err != nil {
		return tool.Door{}, fmt.Errorf("admit a session: %w", err)
	}
	url := s.URL()
	return tool.Door{SkillURL: url, Token: token, MCPURL: url + mcpPath,
		Touch: func() { d.touch(s.now()) }, Close: func() { s.shut(d) }}, nil
}

// hang adds a door, and takes the opportunity to drop those that nobody used for too long.
func (s *Server) hang(d *door) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.left || s.listen == nil:
		return errors.New("the server does not listen")
	case s.doors[d.seat.Session()] != nil:
		return errors.New("the session has a door already")
	}
	for session, old := range s.doors {
		if old.idle(s.now()) > s.cfg.timeout() {
			delete(s.doors, session)
			old.end(tool.ErrNoTurn)
		}
	}
	d.life, d.end = context.WithCancelCause(s.life)
	s.doors[d.seat.Session()] = d
	return nil
}

// shut takes a door away, and ends the calls that came through it.
func (s *Server) shut(d *door) {
	s.mu.Lock()
	if s.doors[d.seat.Session()] == d {
		delete(s.doors, d.seat.Session())
	}
	s.mu.Unlock()
	d.end(tool.ErrNoTurn)
}

// find returns the open door of a session.
func (s *Server) find(session string) (*door, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.doors[session]
	if d == nil {
		return nil, false
	}
	if d.idle(s.now()) > s.cfg.timeout() {
		delete(s.doors, session)
		d.end(tool.ErrNoTurn)
		return nil, false
	}
	return d, true
}

// findToken returns the open door whose token was offered. Every door is compared, so that the time it takes
// tells nothing about which one was near.
func (s *Server) findToken(offered string) (*door, bool) {
	s.mu.Lock()
	session := ""
	for name, d := range s.doors {
		if d.token.Is(offered) {
			session = name
		}
	}
	s.mu.Unlock()
	return s.find(session)
}

// enter lets one call in and marks the door as used; leave must be called when it is over. It refuses when too
// many calls run.
func (d *door) enter(now func() time.Time) (leave func(), err error) {
	d.touch(now())
	select {
	case d.slots <- struct{}{}:
		return func() { <-d.slots; d.touch(now()) }, nil
	default:
		return nil, tool.Fault{Status: 429, Say: fmt.Sprintf("more than %d calls at once; wait for their answers", maxAtOnce)}
	}
}

// call runs a tool, once for all who ask the same at the same time or within a second. It goes on when the one
// who asked hangs up, since its effect is on the way; the end of the turn, of the session or of the server ends it.
func (d *door) call(ctx context.Context, name string, args json.RawMessage) (tool.Result, error) {
	return d.calls.do(ctx, name, args, func() (tool.Result, error) {
		run, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		defer context.AfterFunc(d.life, cancel)()
		return d.seat.Call(run, name, args)
	})
}

// note lets the seat refuse a tool that it does not have, which is recorded.
func (d *door) note(ctx context.Context, name string, args json.RawMessage) {
	_, _ = d.seat.Call(ctx, name, args) // what it says is said in the words of the face
}

func (d *door) has(name string) bool {
	for _, t := range d.seat.Tools() {
		if t.Name == name {
			return true
		}
	}
	return false
}

func (d *door) touch(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.After(d.seen) {
		d.seen = now
	}
}

func (d *door) idle(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return now.Sub(d.seen)
}

// explain turns the error of a call into what the agent is told, and logs what only the operator may know.
func (s *Server) explain(d *door, name string, err error) tool.Fault {
	var fault tool.Fault
	switch {
	case errors.As(err, &fault):
		if fault.Status < 400 || fault.Status > 599 {
			fault.Status = 400
		}
		return fault
	case errors.Is(err, tool.ErrNoTurn):
		return tool.Fault{Status: 401, Say: "no turn is running in this session: it has ended, and nothing was done. Stop here."}
	case errors.Is(err, context.Canceled):
		return tool.Fault{Status: 401, Say: "the turn ended while " + name + " was running; it may or may not have taken effect. Stop here."}
	}
	s.log.Error("a tool failed", chat.KeyTool, name, chat.KeySession, d.seat.Session(), chat.KeyErr, err)
	return tool.Fault{Status: 500, Say: name + " could not be done because of a fault on our side; the operator was told."}
}
