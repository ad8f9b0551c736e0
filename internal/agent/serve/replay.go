package serve

import (
	"encoding/base64"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/jsonrpc"
	"familiar/internal/llm"
)

// mostReplayed is how much of a tool's result is told again, in bytes.
const mostReplayed = 4 << 10

// replay tells the client again what was said in the session.
func (s *session) replay() {
	messages := s.talk.History().Messages
	results := map[string]llm.Result{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if r, ok := p.(llm.Result); ok {
				results[r.Call] = r
			}
		}
	}
	for _, m := range messages {
		for _, p := range m.Parts {
			if m.Role == llm.User {
				s.replayPerson(p)
			} else {
				s.replayModel(p, results)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.title != "" {
		s.update(sdk.SessionUpdate{SessionInfoUpdate: &sdk.SessionSessionInfoUpdate{Title: sdk.Ptr(s.title)}})
	}
}

func (s *session) replayPerson(p llm.Part) {
	switch p := p.(type) {
	case llm.Text:
		s.update(sdk.UpdateUserMessageText(string(p)))
	case llm.Image:
		s.update(sdk.UpdateUserMessage(sdk.ImageBlock(base64.StdEncoding.EncodeToString(p.Data), p.MIME)))
	}
}

func (s *session) replayModel(p llm.Part, results map[string]llm.Result) {
	switch p := p.(type) {
	case llm.Text:
		s.update(sdk.UpdateAgentMessageText(string(p)))
	case llm.Thinking:
		if p.Text != "" {
			s.update(sdk.UpdateAgentThoughtText(p.Text))
		}
	case llm.Call:
		if p.Name == planTool {
			return
		}
		result, input := results[p.ID], string(p.Input)
		status := sdk.ToolCallStatusCompleted
		if result.Failed {
			status = sdk.ToolCallStatusFailed
		}
		options := []sdk.ToolCallStartOpt{sdk.WithStartStatus(status), sdk.WithStartRawInput(rawInput(input)),
			sdk.WithStartKind(s.kind(p.Name)), sdk.WithStartLocations(s.locations(p.Name, input))}
		if result.Text != "" {
			options = append(options, sdk.WithStartContent([]sdk.ToolCallContent{
				sdk.ToolContent(sdk.TextBlock(jsonrpc.Short(result.Text, mostReplayed)))}))
		}
		s.update(sdk.StartToolCall(sdk.ToolCallId(p.ID), s.heading(p.Name, input), options...))
	}
}

func (s *session) kind(tool string) sdk.ToolKind {
	switch tool {
	case readFile:
		return sdk.ToolKindRead
	case writeFile:
		return sdk.ToolKindEdit
	}
	return sdk.ToolKindOther
}
