package serve

import (
	"encoding/json"
	"path/filepath"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
)

// planTool is the loop's tool for plans, which clients see as a plan and not as a tool.
const planTool = "update_plan"

// Saw sends the client what is to be seen of the turn.
func (t *turn) Saw(u agent.Update) {
	s := t.session
	switch u := u.(type) {
	case agent.Message:
		s.update(sdk.UpdateAgentMessageText(u.Text))
	case agent.Thought:
		s.update(sdk.UpdateAgentThoughtText(u.Text))
	case agent.Plan:
		s.update(sdk.UpdatePlan(entries(u.Steps)...))
	case agent.Usage:
		now := u.Total - t.used.Total // what the last answer read and wrote is what the conversation weighs now
		t.used = u
		s.update(sdk.SessionUpdate{UsageUpdate: &sdk.SessionUsageUpdate{Used: now,
			Size: max(s.server.o.Budgets.HistoryTokens, now)}})
	case agent.ToolCall:
		if u.Title != planTool {
			t.sawCall(u)
		}
	}
}

func (t *turn) sawCall(c agent.ToolCall) {
	id := sdk.ToolCallId(c.ID)
	if !t.shown[c.ID] {
		t.shown[c.ID] = true
		t.session.update(sdk.StartToolCall(id, t.session.heading(c.Title, c.Input), sdk.WithStartKind(sdk.ToolKind(c.Kind)),
			sdk.WithStartStatus(sdk.ToolCallStatus(c.Status)), sdk.WithStartLocations(t.session.locations(c.Title, c.Input)),
			sdk.WithStartRawInput(rawInput(c.Input))))
		return
	}
	options := []sdk.ToolCallUpdateOpt{sdk.WithUpdateStatus(sdk.ToolCallStatus(c.Status))}
	if c.Status == agent.StatusCompleted || c.Status == agent.StatusFailed {
		var shown []sdk.ToolCallContent
		if diff, ok := t.diffs[c.ID]; ok && c.Status == agent.StatusCompleted {
			shown = append(shown, diff)
		} else if c.Output != "" {
			shown = append(shown, sdk.ToolContent(sdk.TextBlock(c.Output)))
		}
		options = append(options, sdk.WithUpdateContent(shown))
	}
	t.session.update(sdk.UpdateToolCall(id, options...))
}

// rawInput returns an input as clients take it, nil when it is not an object.
func rawInput(input string) json.RawMessage {
	if trimmed := strings.TrimSpace(input); strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	return json.RawMessage("{}")
}

// heading names a call for people.
func (s *session) heading(tool, input string) string {
	path, ours := s.file(tool, input)
	switch {
	case ours && tool == readFile:
		return "Read " + filepath.Base(path)
	case ours && tool == writeFile:
		return "Write " + filepath.Base(path)
	}
	return tool
}

// locations returns the file that a call of ours is about.
func (s *session) locations(tool, input string) []sdk.ToolCallLocation {
	if path, ours := s.file(tool, input); ours {
		return []sdk.ToolCallLocation{{Path: path}}
	}
	return nil
}

// entries makes the protocol's plan of steps, whose first signs say how far they are.
func entries(steps []string) []sdk.PlanEntry {
	made := []sdk.PlanEntry{}
	for _, step := range steps {
		entry := sdk.PlanEntry{Content: strings.TrimSpace(step), Priority: sdk.PlanEntryPriorityMedium,
			Status: sdk.PlanEntryStatusPending}
		for mark, status := range map[string]sdk.PlanEntryStatus{"[x]": sdk.PlanEntryStatusCompleted,
			"[X]": sdk.PlanEntryStatusCompleted, "[>]": sdk.PlanEntryStatusInProgress, "[ ]": sdk.PlanEntryStatusPending} {
			if rest, found := strings.CutPrefix(entry.Content, mark); found {
				entry.Content, entry.Status = strings.TrimSpace(rest), status
				break
			}
		}
		made = append(made, entry)
	}
	return made
}
