package serve

import (
	"context"
	"errors"
	"path/filepath"

	sdk "github.com/coder/acp-go-sdk"
)

// session finds an open session.
func (s *server) session(id sdk.SessionId) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open := s.sessions[id]; open != nil {
		return open, nil
	}
	return nil, bad("there is no open session of that id")
}

// wanted is what a client asks of a session that it opens.
type wanted struct {
	cwd     string
	servers []sdk.McpServer
}

// open begins a session.
func (s *server) open(ctx context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if !filepath.IsAbs(p.Cwd) {
		return sdk.NewSessionResponse{}, bad("cwd must be an absolute path")
	}
	if err := s.o.Models.Ready(); err != nil { // before anything is written
		return sdk.NewSessionResponse{}, err
	}
	kept, err := s.store.create(p.Cwd)
	if err != nil {
		return sdk.NewSessionResponse{}, err
	}
	made, err := s.begin(ctx, wanted{p.Cwd, p.McpServers}, kept)
	if err != nil {
		return sdk.NewSessionResponse{}, errors.Join(err, kept.remove())
	}
	return sdk.NewSessionResponse{SessionId: made.id, Modes: made.modes(), ConfigOptions: made.options()}, nil
}

// load goes on with a session, and tells again what was said in it.
func (s *server) load(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	made, err := s.again(ctx, p.SessionId, wanted{p.Cwd, p.McpServers})
	if err != nil {
		return sdk.LoadSessionResponse{}, err
	}
	made.replay()
	return sdk.LoadSessionResponse{Modes: made.modes(), ConfigOptions: made.options()}, nil
}

// resume goes on with a session, and tells nothing.
func (s *server) resume(ctx context.Context, p sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	made, err := s.again(ctx, p.SessionId, wanted{p.Cwd, p.McpServers})
	if err != nil {
		return sdk.ResumeSessionResponse{}, err
	}
	return sdk.ResumeSessionResponse{Modes: made.modes(), ConfigOptions: made.options()}, nil
}

// again opens a session that was kept. One that is open is closed first, since its servers may be others now.
func (s *server) again(ctx context.Context, id sdk.SessionId, w wanted) (*session, error) {
	if !filepath.IsAbs(w.cwd) {
		return nil, bad("cwd must be an absolute path")
	}
	s.mu.Lock()
	open := s.sessions[id]
	s.mu.Unlock()
	if open != nil {
		if open.running() {
			return nil, refused("a turn is running in this session; cancel it first")
		}
		s.end(open)
	}
	kept, err := s.store.open(string(id))
	if err != nil {
		return nil, err
	}
	made, err := s.begin(ctx, w, kept)
	if err != nil {
		return nil, errors.Join(err, kept.close())
	}
	return made, nil
}

// begin makes a session of what is kept of it, and puts it among the open ones.
func (s *server) begin(ctx context.Context, w wanted, kept *record) (*session, error) {
	made, err := newSession(ctx, s, w, kept)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.leaving:
		err = errLeft
	case len(s.sessions) >= mostSessions:
		err = refused("%d sessions are open; close one first", mostSessions)
	case s.sessions[made.id] != nil:
		err = refused("the session is being opened already")
	default:
		s.sessions[made.id] = made
		return made, nil
	}
	return nil, errors.Join(err, made.agent.Close())
}

// closeSession cuts off what runs in a session and closes it; it stays on the disk.
func (s *server) closeSession(_ context.Context, p sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	open, err := s.session(p.SessionId)
	if err != nil {
		return sdk.CloseSessionResponse{}, err
	}
	s.end(open)
	return sdk.CloseSessionResponse{}, nil
}

// list tells which sessions are kept, newest first.
func (s *server) list(_ context.Context, p sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	page, err := s.store.list(deref(p.Cwd), deref(p.Cursor))
	if err != nil {
		return sdk.ListSessionsResponse{}, err
	}
	answer := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
	for _, found := range page.found {
		info := sdk.SessionInfo{SessionId: sdk.SessionId(found.id), Cwd: found.cwd,
			UpdatedAt: sdk.Ptr(found.changed.UTC().Format("2006-01-02T15:04:05Z"))}
		if found.title != "" {
			info.Title = sdk.Ptr(found.title)
		}
		answer.Sessions = append(answer.Sessions, info)
	}
	if page.next != "" {
		answer.NextCursor = sdk.Ptr(page.next)
	}
	return answer, nil
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// errNoSession refuses an id that nothing is kept of.
var errNoSession error = bad("there is no session of that id")
