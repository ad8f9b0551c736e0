package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
)

// open makes the session ready. What it has begun when it fails, Close ends.
func (s *session) open(ctx context.Context, o agent.Opening) (err error) {
	if s.stand, err = s.agent.deps.Enter(o.Workspace); err != nil {
		return err
	}
	if o.Tools != nil {
		if s.door, err = s.agent.deps.Door(o.Tools); err != nil {
			return err
		}
	}
	s.errors = &stderr{log: s.log}
	s.token = callerSession(o)
	if s.child, err = s.agent.spawn(ctx, s); err != nil {
		return err
	}
	s.conn = newConn(s.log, s.child.in, s.child.out, s)
	life := context.WithoutCancel(ctx)
	s.conn.start(life)
	s.watching.Go(func() { s.watch(life) })
	if err = s.within(ctx, "initialize", s.initialize); err != nil {
		return s.explain(err)
	}
	return s.within(ctx, "open the conversation", func(ctx context.Context) error { return s.begin(ctx, o) })
}

// within bounds one step of the start, and says so before it is over.
func (s *session) within(ctx context.Context, what string, step func(context.Context) error) error {
	limit := ms(s.agent.cfg.ConnectTimeoutMs)
	warn := time.AfterFunc(limit*4/5, func() {
		s.log.Warn("the agent takes long to start", "step", what, "limit", limit.String())
	})
	defer warn.Stop()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errConnect)
	defer cancel()
	err := step(ctx)
	if errors.Is(err, errConnect) {
		s.conn.fail(errConnect)
		return fmt.Errorf("%s: %w (%s)", what, errConnect, limit)
	}
	return err
}

// explain adds to the error of a failed start what helps to mend it: the command, how it ended, what it said.
func (s *session) explain(err error) error {
	s.conn.fail(errConnect)
	<-s.over
	err = fmt.Errorf("%w; the command was: %s; it ended with %s", err, s.command, s.exit())
	if last := s.agent.deps.Vault.Mask(s.errors.last()); last != "" {
		return fmt.Errorf("%w; its last words: %s", err, strings.ReplaceAll(last, "\n", " | "))
	}
	return err
}

func (s *session) initialize(ctx context.Context) error {
	ours := s.agent.profile.FilesThroughUs
	answer, err := request[sdk.InitializeRequest, sdk.InitializeResponse](ctx, s.conn, sdk.AgentMethodInitialize,
		sdk.InitializeRequest{
			ProtocolVersion:    sdk.ProtocolVersionNumber,
			ClientInfo:         &sdk.Implementation{Name: "familiar", Version: "1"},
			ClientCapabilities: sdk.ClientCapabilities{Fs: sdk.FileSystemCapabilities{ReadTextFile: ours, WriteTextFile: ours}},
		})
	if err != nil {
		return err
	}
	if answer.ProtocolVersion != sdk.ProtocolVersionNumber {
		return fmt.Errorf("the agent speaks version %d of the protocol, we speak %d", answer.ProtocolVersion,
			sdk.ProtocolVersionNumber)
	}
	s.can = agent.Can{Image: answer.AgentCapabilities.PromptCapabilities.Image, Tmp: s.stand.Tmp}
	s.mcp = answer.AgentCapabilities.McpCapabilities
	return nil
}

func (s *session) begin(ctx context.Context, o agent.Opening) error {
	answer, err := request[sdk.NewSessionRequest, opened](ctx, s.conn, sdk.AgentMethodSessionNew,
		sdk.NewSessionRequest{Cwd: s.stand.Work, McpServers: s.servers()})
	if err != nil {
		return err
	}
	if answer.SessionID == "" {
		return errors.New("session/new: the agent gave the session no name")
	}
	s.name.Store(&answer.SessionID)
	model := o.Model
	if model == "" {
		model = s.agent.cfg.Model
	}
	if err := s.setModel(ctx, answer, model); err != nil {
		return err
	}
	return s.setMode(ctx, answer, o.Mode)
}
