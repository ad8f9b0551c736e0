package acp

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/workspace"
)

// answer serves the agent's requests: files of its own folders, and permission. Everything else is unknown here.
func (s *session) answer(ctx context.Context, m *message, era int64) (json.RawMessage, error) {
	params := m.Params
	switch m.Method {
	case sdk.ClientMethodSessionRequestPermission:
		return s.permit(ctx, params, era)
	case sdk.ClientMethodFsReadTextFile:
		return s.readFile(params)
	case sdk.ClientMethodFsWriteTextFile:
		return s.writeFile(params)
	}
	s.conn.odd.unknown.Add(1)
	return nil, &wireError{Code: codeUnknown, Message: "method not found"}
}

// rules are what this session may do with files through us.
func (s *session) rules() workspace.Rules {
	return workspace.Rules{Yolo: s.yolo.Load(), WriteExtensions: s.agent.cfg.Sandbox.AllowedWriteExtensions}
}

// refusal is what the agent is told when a file is refused; why is for it to act on.
func refusal(why error) *wireError { return &wireError{Code: codeRefused, Message: why.Error()} }

func (s *session) readFile(params json.RawMessage) (json.RawMessage, error) {
	var r sdk.ReadTextFileRequest
	if json.Unmarshal(params, &r) != nil || r.Path == "" {
		return nil, &wireError{Code: codeParams, Message: "path is required"}
	}
	content, err := s.stand.ReadFile(r.Path, s.rules())
	if err != nil {
		return nil, refusal(err)
	}
	return json.Marshal(sdk.ReadTextFileResponse{Content: part(string(content), r.Line, r.Limit)})
}

// part returns limit lines of content, from line on, which counts from 1.
func part(content string, line, limit *int) string {
	if line == nil && limit == nil {
		return content
	}
	all := strings.SplitAfter(content, "\n")
	from := 0
	if line != nil {
		from = min(max(*line-1, 0), len(all))
	}
	to := len(all)
	if limit != nil {
		to = min(from+max(*limit, 0), to)
	}
	return strings.Join(all[from:to], "")
}

func (s *session) writeFile(params json.RawMessage) (json.RawMessage, error) {
	var r sdk.WriteTextFileRequest
	if json.Unmarshal(params, &r) != nil || r.Path == "" {
		return nil, &wireError{Code: codeParams, Message: "path is required"}
	}
	if err := s.stand.WriteFile(r.Path, []byte(r.Content), s.rules()); err != nil {
		return nil, refusal(err)
	}
	return json.Marshal(sdk.WriteTextFileResponse{})
}
