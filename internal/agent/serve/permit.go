package serve

import (
	"context"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// Permit asks the client whether a call may run. A yes for always is kept here and not in the loop, so that the mode
// still counts for what was allowed.
func (t *turn) Permit(ctx context.Context, ask agent.Ask) agent.Answer {
	s := t.session
	s.mu.Lock()
	mode, allowed := s.mode, s.allowed[ask.Title]
	s.mu.Unlock()
	if mode == modePlan {
		return ask.Choose(false)
	}
	input := string(ask.RawInput)
	call := sdk.ToolCallUpdate{ToolCallId: sdk.ToolCallId(ask.Call), Title: sdk.Ptr(s.heading(ask.Title, input)),
		Kind: sdk.Ptr(sdk.ToolKind(ask.Kind)), Status: sdk.Ptr(sdk.ToolCallStatusPending), RawInput: rawInput(input),
		Locations: s.locations(ask.Title, input)}
	if diff, ok := s.difference(ctx, ask.Title, input); ok {
		t.diffs[ask.Call] = diff
		call.Content = []sdk.ToolCallContent{diff}
	}
	if allowed {
		return ask.Choose(true)
	}
	answer, err := request[sdk.RequestPermissionResponse](ctx, s.server.conn, sdk.ClientMethodSessionRequestPermission,
		sdk.RequestPermissionRequest{SessionId: s.id, ToolCall: call, Options: []sdk.PermissionOption{
			{OptionId: sdk.PermissionOptionId(agent.AllowOnce), Kind: sdk.PermissionOptionKindAllowOnce, Name: "Allow once"},
			{OptionId: sdk.PermissionOptionId(agent.AllowAlways), Kind: sdk.PermissionOptionKindAllowAlways, Name: "Allow for this session"},
			{OptionId: sdk.PermissionOptionId(agent.RejectOnce), Kind: sdk.PermissionOptionKindRejectOnce, Name: "Reject"},
		}})
	if err != nil {
		if ctx.Err() == nil {
			s.server.o.Log.Warn("a permission was not answered; it counts as refused", chat.KeyErr, err)
		}
		return ask.Choose(false)
	}
	if answer.Outcome.Selected == nil {
		return ask.Choose(false)
	}
	picked := agent.OptionKind(answer.Outcome.Selected.OptionId)
	if picked == agent.AllowAlways {
		s.mu.Lock()
		s.allowed[ask.Title] = true
		s.mu.Unlock()
	}
	return ask.Choose(picked == agent.AllowOnce || picked == agent.AllowAlways)
}
