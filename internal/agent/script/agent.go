package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/tool"
)

// Agent plays a script in this process. Safe for concurrent use; each session plays the script from the start.
type Agent struct {
	script Script

	mu       sync.Mutex
	opened   int
	sessions map[*session]bool
	closed   bool
}

// New makes an agent that plays s.
func New(s Script) *Agent { return &Agent{script: s, sessions: map[*session]bool{}} }

// Name says who thinks.
func (a *Agent) Name() string { return "script" }

// Open starts a session at once.
func (a *Agent) Open(ctx context.Context, o agent.Opening) (agent.Session, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("open session: %w", context.Cause(ctx))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, fmt.Errorf("open session: %w", chat.ErrShutdown)
	}
	a.opened++
	s := &session{agent: a, id: fmt.Sprintf("script-%d", a.opened), tools: o.Tools, gone: make(chan struct{})}
	a.sessions[s] = true
	return s, nil
}

// Living returns how many sessions are open.
func (a *Agent) Living() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.sessions)
}

// Close ends every session.
func (a *Agent) Close() error {
	a.mu.Lock()
	a.closed = true
	var rest []*session
	for s := range a.sessions {
		rest = append(rest, s)
	}
	a.mu.Unlock()
	for _, s := range rest {
		_ = s.Close() // never fails
	}
	return nil
}

type session struct {
	agent *Agent
	id    string
	tools tool.Caller
	gone  chan struct{}
	end   sync.Once

	mu      sync.Mutex
	running bool
	prompts int
	found   string
}

func (s *session) ID() string     { return s.id }
func (s *session) Can() agent.Can { return agent.Can{Image: !s.agent.script.NoImages} }

func (s *session) Close() error {
	s.end.Do(func() {
		close(s.gone)
		s.agent.mu.Lock()
		defer s.agent.mu.Unlock()
		delete(s.agent.sessions, s)
	})
	return nil
}

// Prompt plays the turn on the caller's goroutine. When ctx ends it returns at the next step.
func (s *session) Prompt(ctx context.Context, _ chat.Turn, blocks []agent.Block, w agent.Watcher) (agent.Result, error) {
	steps, found, err := s.begin(blocks)
	if err != nil {
		return agent.Result{}, fmt.Errorf("prompt: %w", err)
	}
	defer s.over()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var heed sync.WaitGroup
	defer heed.Wait()
	defer cancel(nil)
	heed.Go(func() {
		select {
		case <-s.gone:
			cancel(agent.ErrGone)
		case <-ctx.Done():
		}
	})
	result, err := play(ctx, steps, found, inside{s.tools, w})
	if err != nil {
		return agent.Result{}, fmt.Errorf("prompt: %w", err)
	}
	return result, nil
}

func (s *session) begin(blocks []agent.Block) (steps []Step, found string, err error) {
	select {
	case <-s.gone:
		return nil, "", agent.ErrGone
	default:
	}
	for _, b := range blocks {
		if _, image := b.(agent.Image); image && s.agent.script.NoImages {
			return nil, "", errors.New("the agent takes no images")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return nil, "", errors.New("another prompt is running in this session")
	}
	s.running = true
	s.prompts++
	text := words(blocks)
	if s.prompts == 1 {
		s.found = s.agent.script.find(text)
	}
	return s.agent.script.pick(text, s.found, s.prompts-1), s.found, nil
}

func (s *session) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// inside is the stage in this process.
type inside struct {
	tools   tool.Caller
	watcher agent.Watcher
}

func (i inside) update(u agent.Update) { i.watcher.Saw(u) }

func (i inside) call(ctx context.Context, name string, args json.RawMessage) (string, error) {
	if i.tools == nil {
		return "", errors.New("there are no tools")
	}
	res, err := i.tools.Call(ctx, name, args)
	return string(res.Data), err
}

func (i inside) ask(ctx context.Context, ask agent.Ask) agent.Answer {
	a := i.watcher.Permit(ctx, ask)
	if ctx.Err() != nil {
		return agent.Answer{} // the turn is over: «cancelled»
	}
	return a
}

func (i inside) own(context.Context, Step) error {
	return errors.New("the step can only be played in a process of its own, or is empty")
}
