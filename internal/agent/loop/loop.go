// Package loop is our own agent: it asks a model, runs the tools that the model calls, and asks again, until no call
// is left or a budget is used up. It holds no process and stores nothing; a session lives in memory, and whoever wants
// to keep it takes its History.
//
// What it promises: whatever a model or a tool does, a turn ends, and the session can go on. Every call that the model
// made has exactly one result in the history, in the order of the calls. A tool that fails, panics or hangs is a
// failed result. When a turn ends, the contexts of all its calls have ended. Nothing that was said is logged.
package loop

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/llm"
	"familiar/internal/tool"
	"familiar/internal/toolclient"
)

// Deps is what the house gives to the loop. Log is needed.
type Deps struct {
	Log *slog.Logger
	// Model finds another model of that name; nil when there is only the one that New got.
	Model func(name string) (llm.Model, error)
	// Servers are the operator's own MCP servers; every session gets all of them, but for five minutes those that could
	// not be connected are left out.
	Servers []toolclient.Server
	// Place is where servers on standard streams stand; nil for the zero Place. It is asked only when there are any.
	Place func(agent.Opening) (toolclient.Place, error)
	// Connect is how long a server may take to be ready; 0 for the default of toolclient.
	Connect time.Duration
	// Now is the clock; nil for time.Now.
	Now func() time.Time
	// Instructions are said to the model after our own words on how to work with tools.
	Instructions string
}

// Agent is the loop on a model. Safe for concurrent use.
type Agent struct {
	cfg    Config
	model  llm.Model
	deps   Deps
	words  words
	system string

	absent absent

	mu       sync.Mutex
	sessions map[*Session]bool
	leaving  bool
	opening  sync.WaitGroup
	openings map[*Session]context.CancelCauseFunc // ends those that are being opened
}

// New makes an agent; it starts nothing.
func New(cfg Config, model llm.Model, deps Deps) *Agent {
	if deps.Now == nil {
		deps.Now = time.Now
	}
	return &Agent{cfg: cfg, model: model, deps: deps, words: sentences(), system: system(deps.Instructions),
		absent:   absent{until: make([]time.Time, len(deps.Servers))},
		sessions: map[*Session]bool{}, openings: map[*Session]context.CancelCauseFunc{}}
}

// Name says who thinks: the provider.
func (a *Agent) Name() string { return a.model.Provider() }

// Setup is what a session has besides its Opening.
type Setup struct {
	History History             // what was said before; it is repaired where it is damaged
	Servers []toolclient.Server // MCP servers besides those of Deps
	Place   *toolclient.Place   // instead of that of Deps
	// Asks says which of the Opening's tools ask the Watcher before they run; nil for none: the box decides then.
	Asks func(tool.Tool) bool
	// Plan gives the model a tool with which it tells its Plan.
	Plan bool
}

// Open starts a session; see agent.Agent.
func (a *Agent) Open(ctx context.Context, o agent.Opening) (agent.Session, error) {
	s, err := a.OpenWith(ctx, o, Setup{})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// OpenWith starts a session that has a history, or more than an Opening says. It blocks until the MCP servers are
// ready or were given up.
func (a *Agent) OpenWith(ctx context.Context, o agent.Opening, setup Setup) (*Session, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &Session{agent: a, id: newID(), always: map[string]bool{}, log: a.deps.Log}
	a.mu.Lock()
	if a.leaving {
		a.mu.Unlock()
		return nil, fmt.Errorf("open session: %w", chat.ErrShutdown)
	}
	a.opening.Add(1)
	a.openings[s] = cancel
	a.mu.Unlock()
	defer a.opening.Done()
	err := s.open(ctx, o, setup)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.openings, s)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	a.sessions[s] = true
	return s, nil
}

func (s *Session) open(ctx context.Context, o agent.Opening, setup Setup) (err error) {
	if s.model, err = s.agent.named(o.Model); err != nil {
		return err
	}
	if o.Tools != nil {
		s.log = s.log.With(chat.KeySession, o.Tools.Session())
	}
	if s.foreign, err = s.agent.servers(ctx, o, setup); err != nil {
		return err
	}
	s.tools = newKit(s.agent.words, o.Tools, s.foreign.Tools(), setup)
	s.load(setup.History)
	return nil
}

// named returns the model of that name.
func (a *Agent) named(name string) (llm.Model, error) {
	if name == "" || name == a.model.Name() {
		return a.model, nil
	}
	if a.deps.Model == nil {
		return nil, fmt.Errorf("there is no model %q here, only %q", name, a.model.Name())
	}
	m, err := a.deps.Model(name)
	if err != nil {
		return nil, fmt.Errorf("choose the model %q: %w", name, err)
	}
	return m, nil
}

// Living returns how many sessions are open.
func (a *Agent) Living() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.sessions)
}

// Close ends every session, and waits for what they started.
func (a *Agent) Close() error {
	a.mu.Lock()
	a.leaving = true
	for _, cancel := range a.openings {
		cancel(chat.ErrShutdown)
	}
	a.mu.Unlock()
	a.opening.Wait()
	a.mu.Lock()
	var rest []*Session
	for s := range a.sessions {
		rest = append(rest, s)
	}
	a.mu.Unlock()
	var errs []error
	for _, s := range rest {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

func (a *Agent) left(s *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sessions, s)
}

func newID() string {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return "loop_" + hex.EncodeToString(id[:])
}
