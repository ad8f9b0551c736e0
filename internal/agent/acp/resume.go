package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/workspace"
)

const (
	// politeTime is how long an agent may take to close a conversation before it is ended all the same.
	politeTime = 500 * time.Millisecond
	// maxListed is how many earlier sessions are listed.
	maxListed = 1000
)

// errNoEarlier says that the agent keeps no sessions.
var errNoEarlier = errors.New("the agent does not go on with earlier sessions")

// conversation asks for a session: a new one, or an earlier one by its name.
type conversation struct {
	SessionID string          `json:"sessionId,omitempty"`
	Cwd       string          `json:"cwd"`
	Servers   []sdk.McpServer `json:"mcpServers"`
	Meta      json.RawMessage `json:"_meta,omitempty"`
}

// converse asks for a session by one of the methods that do.
func converse(ctx context.Context, s *session, method, name string) (opened, error) {
	return request[conversation, opened](ctx, s.conn, method,
		conversation{SessionID: name, Cwd: s.stand.Work, Servers: s.servers(), Meta: s.agent.profile.Meta})
}

// goOn goes on with the session that o.Resume names, and reports whether it does. What the agent tells again
// meanwhile is seen by nobody, since no turn runs. Whatever goes wrong is said once, here, and the caller opens a
// new session; whoever asked keeps the name that they have, and sees from the new one that it is another.
func (s *session) goOn(ctx context.Context, o agent.Opening) bool {
	ctx, cancel := context.WithTimeoutCause(ctx, ms(s.agent.cfg.ConnectTimeoutMs), errConnect)
	defer cancel()
	answer, err := s.earlier(ctx, o)
	if err == nil {
		if answer.SessionID == "" {
			answer.SessionID = o.Resume
		}
		s.named(answer)
		return true
	}
	s.log.Warn("could not go on with the earlier session; starting afresh", "earlier", short(o.Resume, 80), chat.KeyErr, err)
	return false
}

// earlier asks for the session by the best way that the agent has: the one that tells nothing again comes first.
func (s *session) earlier(ctx context.Context, o agent.Opening) (opened, error) {
	switch {
	case o.Fork && s.can.Fork:
		answer, err := converse(ctx, s, sdk.AgentMethodSessionFork, o.Resume)
		if err == nil && (answer.SessionID == "" || answer.SessionID == o.Resume) {
			err = errors.New("session/fork: the agent gave the copy no name of its own")
		}
		return answer, err
	case o.Fork:
		return opened{}, errNoEarlier
	case s.can.Resume:
		return converse(ctx, s, sdk.AgentMethodSessionResume, o.Resume)
	case s.can.Load:
		return converse(ctx, s, sdk.AgentMethodSessionLoad, o.Resume)
	}
	return opened{}, errNoEarlier
}

// sayClose lets an agent that can close its conversation do so, when none of its turns runs.
func (s *session) sayClose() {
	s.turnLock.Lock()
	busy := s.turn != nil
	s.turnLock.Unlock()
	if busy || s.caps.SessionCapabilities.Close == nil || s.ID() == "" {
		return
	}
	ctx, cancel := context.WithTimeout(s.life, politeTime)
	defer cancel()
	// Best effort: the process is ended next, whatever it says.
	_, _ = request[sdk.CloseSessionRequest, json.RawMessage](ctx, s.conn, sdk.AgentMethodSessionClose,
		sdk.CloseSessionRequest{SessionId: sdk.SessionId(s.ID())})
}

// Earlier is a session that an agent keeps.
type Earlier struct {
	ID    string // for agent.Opening.Resume
	Title string // "" when it has none
	At    string // when it was last used, as the agent writes it; "" when it does not say
}

// listed is a page of earlier sessions.
type listed struct {
	Sessions []struct {
		SessionID string `json:"sessionId"`
		Title     string `json:"title"`
		UpdatedAt string `json:"updatedAt"`
	} `json:"sessions"`
	NextCursor string `json:"nextCursor"`
}

// listing asks for a page.
type listing struct {
	Cwd    string `json:"cwd"`
	Cursor string `json:"cursor,omitempty"`
}

// Sessions lists the sessions of a workspace that the agent keeps. It starts a process for it, which counts like any
// other and is gone when Sessions returns.
func (a *Agent) Sessions(ctx context.Context, ref workspace.Ref) (all []Earlier, err error) {
	ctx, leave, err := a.enter(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer leave()
	s, err := a.admit(ctx, agent.Opening{Workspace: ref})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.start(ctx, agent.Opening{Workspace: ref}); err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	if s.caps.SessionCapabilities.List == nil {
		return nil, fmt.Errorf("list sessions: %w", errNoEarlier)
	}
	err = s.within(ctx, "list the sessions", func(ctx context.Context) error {
		all, err = s.list(ctx)
		return err
	})
	return all, err
}

func (s *session) list(ctx context.Context) (all []Earlier, err error) {
	for cursor := ""; ; {
		page, err := request[listing, listed](ctx, s.conn, sdk.AgentMethodSessionList, listing{s.stand.Work, cursor})
		if err != nil {
			return all, err
		}
		for _, e := range page.Sessions {
			all = append(all, Earlier{e.SessionID, e.Title, e.UpdatedAt})
		}
		if cursor = page.NextCursor; cursor == "" || len(page.Sessions) == 0 || len(all) >= maxListed {
			return all, nil
		}
	}
}
