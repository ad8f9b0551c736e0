// Package rehearsal stands in for an agent while the operator looks at what one would be told: each prompt is written
// to a file of its own, whole or not at all, and answered with one fixed sentence. Nothing is thought, no model is
// asked and no process is started.
package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/tool"
)

// Deps is what a rehearsal works with.
type Deps struct {
	Dir   string // where prompts are written; made when there is a first one
	Reply string // "" answers nothing
	Now   func() time.Time
	Log   *slog.Logger
}

// Agent is the stand-in. It holds nothing between sessions, so it is safe for concurrent use.
type Agent struct{ deps Deps }

// New makes a stand-in. Nothing is written before the first prompt.
func New(deps Deps) *Agent { return &Agent{deps} }

// Name says who thinks: nobody.
func (*Agent) Name() string { return "dry run" }

// Open opens a session at once.
func (a *Agent) Open(ctx context.Context, o agent.Opening) (agent.Session, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("open session: %w", context.Cause(ctx))
	}
	if o.Tools == nil {
		return nil, errors.New("open session: a rehearsal needs the session's tools")
	}
	kind := o.Type
	if kind == "" {
		kind = chat.MessageSession
	}
	return &session{deps: a.deps, kind: kind, tools: o.Tools}, nil
}

// Close has nothing to end.
func (*Agent) Close() error { return nil }

type session struct {
	deps  Deps
	kind  chat.SessionType
	tools tool.Caller
}

func (s *session) ID() string   { return "rehearsal-" + s.tools.Session() }
func (*session) Can() agent.Can { return agent.Can{Image: true, Rehearses: true} }
func (*session) Close() error   { return nil }

// Prompt writes the prompt down and sends the mock reply, if there is one and a message to answer. A reply that does
// not go out is a warning: the prompt is what a rehearsal is for.
func (s *session) Prompt(ctx context.Context, t chat.Turn, blocks []agent.Block, _ agent.Watcher) (agent.Result, error) {
	if ctx.Err() != nil {
		return agent.Result{}, context.Cause(ctx)
	}
	path, err := s.write(blocks)
	if err != nil {
		return agent.Result{}, fmt.Errorf("write the prompt of a dry run: %w", err)
	}
	s.deps.Log.Info("a prompt was written", chat.KeyTurn, t.ID, chat.KeySession, s.tools.Session(), "file", path)
	if _, caused := t.Trigger(); caused && s.deps.Reply != "" {
		if err := s.reply(ctx); err != nil {
			s.deps.Log.Warn("the answer of a dry run did not go out", chat.KeyTurn, t.ID, chat.KeyErr, err)
		}
	}
	return agent.Result{Stop: agent.EndTurn}, nil
}

// reply goes out by the door that an agent's reply would take.
func (s *session) reply(ctx context.Context) error {
	args, err := json.Marshal(struct {
		Message string `json:"message"`
	}{s.deps.Reply})
	if err != nil {
		return err
	}
	_, err = s.tools.Call(ctx, "send-reply", args)
	return err
}
