package acp

import (
	"context"
	"encoding/json"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
)

// permission is a session/request_permission with the tool's input kept as it came.
type permission struct {
	SessionID string                 `json:"sessionId"`
	Options   []sdk.PermissionOption `json:"options"`
	ToolCall  struct {
		ToolCallID string                 `json:"toolCallId"`
		Title      string                 `json:"title"`
		Kind       string                 `json:"kind"`
		Locations  []sdk.ToolCallLocation `json:"locations"`
		RawInput   json.RawMessage        `json:"rawInput"`
	} `json:"toolCall"`
}

func (p permission) ask() agent.Ask {
	ask := agent.Ask{Call: p.ToolCall.ToolCallID, Title: p.ToolCall.Title, Kind: agent.ToolKind(p.ToolCall.Kind)}
	if len(p.ToolCall.RawInput) > 0 && string(p.ToolCall.RawInput) != "null" {
		ask.RawInput = p.ToolCall.RawInput
	}
	for _, l := range p.ToolCall.Locations {
		ask.Paths = append(ask.Paths, l.Path)
	}
	for _, o := range p.Options {
		ask.Options = append(ask.Options, agent.Option{ID: string(o.OptionId), Name: o.Name, Kind: agent.OptionKind(o.Kind)})
	}
	return ask
}

// permit asks the watcher of the running turn. Outside a turn, after its end, and for an answer that the agent
// did not offer, the answer is «cancelled».
func (s *session) permit(ctx context.Context, raw json.RawMessage, era int64) (json.RawMessage, error) {
	var p permission
	if json.Unmarshal(raw, &p) != nil {
		return nil, &wireError{Code: codeParams, Message: "the permission request cannot be read"}
	}
	if p.SessionID != s.ID() {
		return nil, &wireError{Code: codeParams, Message: "there is no such session"}
	}
	ask := p.ask()
	outcome := sdk.RequestPermissionOutcome{Cancelled: &sdk.RequestPermissionOutcomeCancelled{}}
	if chosen := s.decide(ctx, ask, era); offered(ask, chosen) {
		outcome = sdk.RequestPermissionOutcome{Selected: &sdk.RequestPermissionOutcomeSelected{
			OptionId: sdk.PermissionOptionId(chosen.Option)}}
	}
	return json.Marshal(sdk.RequestPermissionResponse{Outcome: outcome})
}

func offered(ask agent.Ask, a agent.Answer) bool {
	for _, o := range ask.Options {
		if a.Option != "" && o.ID == a.Option {
			return true
		}
	}
	return false
}

// plain makes of an ask what other agents would have written, where the profile says that this one does not.
func (s *session) plain(ask *agent.Ask) {
	p := s.agent.profile
	for _, title := range []string{ask.Title, s.turn.shown[ask.Call]} {
		if tool := p.ToolIn(title); tool != "" && (ask.Kind == agent.KindOther || ask.Kind == "") {
			ask.Title = tool
		}
	}
	if p.CommandInTitle && ask.Kind == agent.KindExecute && ask.RawInput == nil {
		// A string is always JSON.
		ask.RawInput, _ = json.Marshal(struct {
			Command string `json:"command"`
		}{ask.Title})
	}
}

// decide lets the watcher answer. While a person thinks the agent is not idle. Some agents ask before they show the
// call that they ask for: the watcher sees it first all the same.
func (s *session) decide(ctx context.Context, ask agent.Ask, era int64) agent.Answer {
	s.turnLock.Lock()
	defer s.turnLock.Unlock()
	if s.turn == nil || era < s.turn.era {
		return agent.Answer{}
	}
	s.plain(&ask)
	if _, known := s.turn.shown[ask.Call]; !known {
		s.turn.see(agent.ToolCall{ID: ask.Call, Title: ask.Title, Kind: ask.Kind, Status: agent.StatusPending})
	}
	s.asking.Store(true)
	defer s.conn.stamp()
	defer s.asking.Store(false)
	return s.turn.permit(ctx, ask)
}
