package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// open makes the session ready. What it has begun when it fails, Close ends.
func (s *session) open(ctx context.Context, o agent.Opening) error {
	if err := s.start(ctx, o); err != nil {
		return err
	}
	if err := s.begin(ctx, o); err != nil {
		return s.explain(err)
	}
	return nil
}

// start starts the process and greets it.
func (s *session) start(ctx context.Context, o agent.Opening) (err error) {
	if s.stand, err = s.agent.deps.Enter(o.Workspace); err != nil {
		return err
	}
	if lend := s.agent.deps.Lend; lend != nil {
		if err := lend(o, s.stand.Home); err != nil {
			s.log.Warn("the agent goes without what it should have been lent", chat.KeyErr, err)
		}
	}
	if o.Tools != nil {
		if s.door, err = s.agent.deps.Door(o.Tools); err != nil {
			return err
		}
	}
	s.errors = &stderr{log: s.log}
	if s.child, err = s.agent.spawn(ctx, s); err != nil {
		return err
	}
	s.conn = newConn(s.log, s.child.in, s.child.out, s)
	s.conn.start(s.life)
	s.watching.Go(func() { s.watch(s.life) })
	if err = s.within(ctx, "initialize", s.initialize); err != nil {
		return s.explain(err)
	}
	return nil
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
	s.caps = answer.AgentCapabilities
	more := s.caps.SessionCapabilities
	s.can = agent.Can{Image: s.caps.PromptCapabilities.Image, Tmp: s.stand.Tmp, Load: s.caps.LoadSession,
		Resume: more.Resume != nil, Fork: more.Fork != nil}
	return s.signIn(ctx, answer.AuthMethods)
}

// signIn chooses the profile's way of signing in, where the agent has it.
func (s *session) signIn(ctx context.Context, ways []sdk.AuthMethod) error {
	way := s.agent.profile.SignIn
	for _, w := range ways {
		if way == "" || (w.Agent == nil || w.Agent.Id != way) && (w.EnvVar == nil || w.EnvVar.Id != way) {
			continue
		}
		_, err := request[sdk.AuthenticateRequest, json.RawMessage](ctx, s.conn, sdk.AgentMethodAuthenticate,
			sdk.AuthenticateRequest{MethodId: way})
		return err
	}
	return nil
}

// begin opens the conversation: an earlier one where that is asked for and can be had, else a new one.
func (s *session) begin(ctx context.Context, o agent.Opening) error {
	if o.Resume != "" && s.goOn(ctx, o) {
		return s.within(ctx, "choose model and mode", func(ctx context.Context) error { return s.choose(ctx, o) })
	}
	return s.within(ctx, "open the conversation", func(ctx context.Context) error {
		answer, err := converse(ctx, s, sdk.AgentMethodSessionNew, "")
		if err != nil {
			return err
		}
		if answer.SessionID == "" {
			return errors.New("session/new: the agent gave the session no name")
		}
		s.named(answer)
		return s.choose(ctx, o)
	})
}

// named keeps what a conversation is called, and what it offers, from the first moment on.
func (s *session) named(answer opened) {
	s.began = answer
	s.name.Store(&answer.SessionID)
}

// choose sets model and mode.
func (s *session) choose(ctx context.Context, o agent.Opening) error {
	model := o.Model
	if model == "" {
		model = s.agent.cfg.Model
	}
	if err := s.setModel(ctx, s.began, model); err != nil {
		return err
	}
	return s.setMode(ctx, s.began, o.Mode)
}
