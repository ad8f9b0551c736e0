package companion

import (
	"context"
	"strings"
	"unicode/utf8"

	"familiar/internal/agent"
	"familiar/internal/audit"
	"familiar/internal/chat"
	"familiar/internal/permission"
)

// watcher sees a session's turn unfold. Its methods are called from one goroutine.
type watcher struct {
	*sitting
	ctx     context.Context
	policy  permission.Policy
	calls   map[string]call
	refused []string // names of what was refused, for the second prompt

	said, thought words // for the audit alone
}

// call is a tool call that was seen: by which name it was shown, and whether its end was.
type call struct {
	name  string
	ended bool
}

// Saw shows which tool is at work. The agent's own words are for the audit alone, where the operator wants them.
func (w *watcher) Saw(u agent.Update) {
	switch u := u.(type) {
	case agent.Message:
		if w.deps.Audit.Writes(audit.AgentCompleteMessage{}.Phase()) {
			w.said.add(u.Text)
		}
		w.note(audit.AgentMessage{Content: u.Text, Length: utf8.RuneCountInString(u.Text)})
	case agent.Thought:
		if w.deps.Audit.Writes(audit.AgentCompleteThought{}.Phase()) {
			w.thought.add(u.Text)
		}
	case agent.ToolCall:
		w.sawTool(u)
	case agent.Plan, agent.Usage: // nobody is shown these
	}
}

func (w *watcher) sawTool(tc agent.ToolCall) {
	known, seen := w.calls[tc.ID]
	if !seen {
		known = call{name: w.name(tc)}
		w.show(chat.Progress{Stage: chat.ToolStarted, Tool: known.name})
	}
	if ok := tc.Status == agent.StatusCompleted; (ok || tc.Status == agent.StatusFailed) && !known.ended {
		known.ended = true
		w.show(chat.Progress{Stage: chat.ToolEnded, Tool: known.name, OK: ok})
	}
	w.calls[tc.ID] = known
}

func (w *watcher) show(p chat.Progress) { w.deps.Show(w.ctx, w.turn, p) }

// Permit decides on one of the agent's own tools, and writes the decision down. When the turn has ended nobody decides
// any more: that is no refusal, and is not written down as one.
func (w *watcher) Permit(ctx context.Context, ask agent.Ask) agent.Answer {
	if ctx.Err() != nil {
		return agent.Answer{}
	}
	verdict := w.policy.Judge(ask)
	if !verdict.Allow && ask.Of != "" && w.deps.Ask != nil {
		if said, ok := w.deps.Ask(ctx, w.turn, ask); ok {
			verdict = said
		}
		if ctx.Err() != nil {
			return agent.Answer{}
		}
	}
	name := w.name(agent.ToolCall{Title: ask.Title, Kind: ask.Kind})
	if verdict.Allow {
		w.note(audit.PermissionApproved{Tool: name, Kind: string(ask.Kind), Reason: verdict.Reason})
	} else {
		w.refused = append(w.refused, name)
		w.note(audit.PermissionDenied{Tool: name, Kind: string(ask.Kind), Reason: verdict.Reason})
	}
	return ask.Choose(verdict.Allow)
}

// name is what a person may read of a tool call: the name of one of our tools, or the kind of the agent's own.
// The title may hold a whole command, so it is never shown.
func (w *watcher) name(tc agent.ToolCall) string {
	for _, t := range w.seat.Tools() {
		if tc.Title == t.Name || strings.HasSuffix(tc.Title, "_"+t.Name) || strings.HasSuffix(tc.Title, "."+t.Name) {
			return t.Name
		}
	}
	if tc.Kind == "" {
		return string(agent.KindOther)
	}
	return string(tc.Kind)
}
