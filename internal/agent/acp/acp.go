// Package acp runs external agents that speak the Agent Client Protocol, version 1, over their standard streams:
// one process for each session, confined to the folders of the person it works for, with an environment built
// from nothing.
//
// What it promises: everything that an agent sends is handled in the order in which it was sent, and nothing of it
// goes anywhere but to the Watcher of the running turn. Nothing that an agent does can hang or end us: lines may
// be 64 MiB long, noise is skipped and counted, memory is bounded, an agent that does not read, does not answer,
// says nothing or dies ends its own calls and no others. When a session is closed its process is gone, and
// everything that descends from it. Nothing that was said is logged, at any level.
package acp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"familiar/internal/agent"
	"familiar/internal/agent/acp/profile"
	"familiar/internal/chat"
	"familiar/internal/process"
	"familiar/internal/secret"
	"familiar/internal/tool"
	"familiar/internal/workspace"
)

// Deps are what the house gives to an agent.
type Deps struct {
	Log   *slog.Logger
	Vault *secret.Vault // masks what an agent says when it does not start; may be nil
	// Enter makes the folders that a session stands in.
	Enter func(workspace.Ref) (*workspace.Stand, error)
	// Door lets the agent's process reach the tools.
	Door func(tool.Caller) (tool.Door, error)
	// Lend lays what a session is lent into its HOME, before its process starts; may be nil. A loan that cannot be laid
	// keeps no session from starting.
	Lend func(o agent.Opening, home string) error
	// Skills is the folder with the skills to lay out, "" for none.
	Skills string
	// Home is the operator's own HOME, where the profile's login files are; "" for none.
	Home string
	// Parent is our own environment, KEY=value, of which a few variables are handed on.
	Parent []string
	// Isolable finds a way to keep agents from the network; nil is process.Isolable.
	Isolable func() (process.Isolation, error)
	// Idle counts the outcomes of idle checks (OutcomeAlive, OutcomeDead, OutcomeGone), by the platform of the person
	// whom the agent works for; may be nil.
	Idle func(platform, outcome string)
}

// ErrStart says that an agent's process does not start, or opens no conversation.
var ErrStart = errors.New("start the agent")

// Agent starts external agents. Safe for concurrent use.
type Agent struct {
	cfg      Config
	profile  profile.Profile
	deps     Deps
	log      *slog.Logger
	unwalled bool
	spawn    func(ctx context.Context, s *session) (*child, error) // tests put something else in its place

	slots    chan struct{}
	mu       sync.Mutex
	sessions map[*session]bool
	said     map[string]bool // what is said once in the agent's life
	leaving  bool
	leave    chan struct{} // closed when Close begins
	opening  sync.WaitGroup

	warm    int            // how many may wait
	spares  []*spare       // the oldest first
	tending sync.WaitGroup // of those that wait
}

// New makes an agent; it starts nothing. Whoever chose a profile that is not Restricted announces it. New fails
// when the executable is not there, and where the kernel has no Landlock unless sandbox.unconfined is set.
func New(cfg Config, p profile.Profile, deps Deps) (*Agent, error) {
	a := newAgent(cfg, p, deps)
	l := launcher{agent: a}
	var err error
	if l.path, err = found(p.Command); err != nil {
		return nil, err
	}
	if p.Node > 0 {
		if l.node, err = found("node"); err != nil {
			return nil, fmt.Errorf("%s runs on Node.js: %w", p.Name, err)
		}
	}
	if l.self, err = os.Executable(); err == nil {
		l.self, err = filepath.EvalSymlinks(l.self)
	}
	if err != nil {
		return nil, fmt.Errorf("find our own executable: %w", err)
	}
	if _, err := process.Confinable(); err != nil {
		if !cfg.Sandbox.Unconfined {
			return nil, fmt.Errorf("agents cannot be confined here: %w; set agent.sandbox.unconfined to run them without walls", err)
		}
		a.log.Warn("agents run without walls: they can read and write whatever this program can", chat.KeyErr, err)
		l.open = true
		a.unwalled = true
	}
	l.isolation = a.isolation()
	a.log.Info("agents are confined", "files", !l.open, "network", l.isolation != process.NoIsolation)
	a.spawn = l.spawn
	return a, nil
}

// isolation is how agents are kept from the network, if they are to be. Where that cannot be done they run without.
func (a *Agent) isolation() process.Isolation {
	if !a.cfg.Sandbox.NetworkIsolation {
		return process.NoIsolation
	}
	way, err := a.deps.Isolable()
	if err != nil {
		a.log.Warn("agents are not kept from the network, although agent.sandbox.networkIsolation is on", chat.KeyErr, err)
		return process.NoIsolation
	}
	return way
}

func newAgent(cfg Config, p profile.Profile, deps Deps) *Agent {
	if deps.Idle == nil {
		deps.Idle = func(string, string) {}
	}
	if deps.Isolable == nil {
		deps.Isolable = process.Isolable
	}
	if deps.Door == nil {
		deps.Door = func(tool.Caller) (tool.Door, error) { return tool.Door{}, nil }
	}
	return &Agent{cfg: cfg, warm: cfg.spares(memory()), profile: p, deps: deps, log: deps.Log.With("agent", p.Name),
		slots: make(chan struct{}, max(cfg.MaxProcesses, 1)), sessions: map[*session]bool{}, said: map[string]bool{}, leave: make(chan struct{})}
}

// first reports whether something has not been said yet, of what is the same for every session.
func (a *Agent) first(what string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.said[what]
	a.said[what] = true
	return !was
}

// Name says who thinks.
func (a *Agent) Name() string { return a.profile.Name }

// Open opens the one session that a process has: in the process that waits for it, or in a new one. While as many
// run as may, it waits for one to end.
func (a *Agent) Open(ctx context.Context, o agent.Opening) (agent.Session, error) {
	ctx, leave, err := a.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	defer leave()
	if s := a.claim(ctx, o); s != nil {
		return newClaimed(ctx, s, o), nil
	}
	s, err := a.fresh(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	return s, nil
}

// fresh opens a session in a process of its own.
func (a *Agent) fresh(ctx context.Context, o agent.Opening) (*session, error) {
	s, err := a.admit(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx, o); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, errors.Join(err, s.Close()))
	}
	s.next = a.following(o)
	return s, nil
}

// enter lets somebody start something, until leave is called; the returned context ends when the agent is closed.
func (a *Agent) enter(ctx context.Context) (_ context.Context, leave func(), _ error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.leaving {
		return nil, nil, chat.ErrShutdown
	}
	a.opening.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	var heed sync.WaitGroup
	heed.Go(func() {
		select {
		case <-a.leave:
			cancel(chat.ErrShutdown)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel(nil)
		heed.Wait()
		a.opening.Done()
	}, nil
}

// admit makes a session that has nothing yet but its place among those that run. When there is none, the process
// that has waited longest for work is let go.
func (a *Agent) admit(ctx context.Context, o agent.Opening) (*session, error) {
	select {
	case a.slots <- struct{}{}:
		return a.seat(ctx, o), nil
	default:
	}
	a.makeRoom()
	select {
	case a.slots <- struct{}{}:
		return a.seat(ctx, o), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for an agent to end: %w", context.Cause(ctx))
	}
}

// seat makes the session that has just taken a slot.
func (a *Agent) seat(ctx context.Context, o agent.Opening) *session {
	s := &session{agent: a, platform: o.Workspace.Platform, token: callerSession(o), over: make(chan struct{}), life: context.WithoutCancel(ctx)}
	s.log = a.log.With(chat.KeySession, s.token)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions[s] = true
	return s
}

func callerSession(o agent.Opening) string {
	if o.Tools == nil {
		return o.Workspace.Session
	}
	return o.Tools.Session()
}

// Living returns how many processes there are, for the gauge.
func (a *Agent) Living() int { return len(a.slots) }

// left forgets a session that is closed, and makes room for another.
func (a *Agent) left(s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sessions[s] {
		delete(a.sessions, s)
		<-a.slots
	}
}

// Close ends every session and its process, and waits for them.
func (a *Agent) Close() error {
	a.mu.Lock()
	if !a.leaving {
		a.leaving = true
		close(a.leave)
	}
	a.mu.Unlock()
	a.opening.Wait()
	a.tending.Wait()
	a.mu.Lock()
	rest := slices.Collect(maps.Keys(a.sessions))
	a.mu.Unlock()
	errs := make([]error, len(rest))
	var all sync.WaitGroup
	for i, s := range rest {
		all.Go(func() { errs[i] = s.Close() })
	}
	all.Wait()
	return errors.Join(errs...)
}
