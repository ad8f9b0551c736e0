package serve

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
	"familiar/internal/agent/loop"
	"familiar/internal/chat"
	"familiar/internal/tool"
)

//go:embed instructions.md
var instructions string

// The modes of a session.
const (
	modeAsk  = "ask"  // what changes something is asked for
	modePlan = "plan" // what changes something is refused
)

// session is one conversation.
type session struct {
	id     sdk.SessionId
	cwd    string
	server *server
	kept   *record
	agent  *loop.Agent
	talk   *loop.Session
	seat   *tool.Seat
	named  []string // the models that may be chosen, as they were when the session was opened

	mu      sync.Mutex
	mode    string
	title   string
	allowed map[string]bool // tools that may run unasked until the session is closed
	turn    *turn           // nil when none runs
	closed  bool
	once    sync.Once
	err     error
}

// newSession makes a session of what is kept of it. It starts the MCP servers.
func newSession(ctx context.Context, s *server, w wanted, kept *record) (*session, error) {
	servers, err := s.servers(w.servers)
	if err != nil {
		return nil, err
	}
	model, err := s.o.Models.Default(ctx)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	made := &session{id: sdk.SessionId(kept.id), cwd: w.cwd, server: s, kept: kept, mode: kept.mode, title: kept.title,
		allowed: map[string]bool{}, named: s.o.Models.Names(ctx)}
	if made.mode != modePlan {
		made.mode = modeAsk
	}
	if kept.model != "" && kept.model != model.Name() {
		if chosen, err := s.o.Models.Named(kept.model); err == nil {
			model = chosen // one that is not there any more is no reason to lose the session
		}
	}
	if !slices.Contains(made.named, model.Name()) {
		made.named = append([]string{model.Name()}, made.named...)
	}
	tools := made.tools(s.files())
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	made.seat = tool.NewBox(nil, tools...).Seat(kept.id, names, func(string) {})
	made.agent = loop.New(s.o.Budgets, model, loop.Deps{Log: s.o.Log, Model: s.o.Models.Named,
		Instructions: strings.ReplaceAll(instructions, "{{cwd}}", w.cwd)})
	place := s.place(w.cwd)
	made.talk, err = made.agent.OpenWith(ctx, agent.Opening{Tools: made.seat}, loop.Setup{History: kept.history,
		Servers: servers, Place: &place, Plan: true, Asks: func(t tool.Tool) bool { return t.Effect != tool.Reads }})
	if err != nil {
		return nil, errors.Join(err, made.agent.Close())
	}
	return made, nil
}

// update sends the client an update.
func (s *session) update(u sdk.SessionUpdate) {
	notify(s.server.conn, sdk.ClientMethodSessionUpdate, sdk.SessionNotification{SessionId: s.id, Update: u})
}

// running reports whether a turn runs.
func (s *session) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn != nil
}

// cancel cuts off the turn that runs, if one does.
func (s *session) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		s.turn.end(errCancelled)
	}
}

// close cuts off what runs, and returns when the MCP servers and the file are let go.
func (s *session) close() error {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		var over chan struct{}
		if s.turn != nil {
			s.turn.end(errCancelled)
			over = s.turn.over
		}
		s.mu.Unlock()
		s.err = s.agent.Close()
		if over != nil {
			<-over // the turn keeps what was said in it
		}
		s.err = errors.Join(s.err, s.kept.close())
	})
	return s.err
}

// keep writes something down. A disk that refuses costs the session on the disk, not the one that is open.
func (s *session) keep(err error) {
	if err != nil {
		s.server.o.Log.Warn("a session could not be kept", chat.KeySession, string(s.id), chat.KeyErr, err)
	}
}
