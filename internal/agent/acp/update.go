package acp

import (
	"encoding/json"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
)

// sessionUpdate is a session/update, as far as it has to be read to know what it is.
type sessionUpdate struct {
	SessionID string          `json:"sessionId"`
	Update    json.RawMessage `json:"update"`
}

// text is a chunk of words, or of something else. Some agents put the text beside the content, not into it.
type text struct {
	Content struct {
		Type string `json:"type"`
		Text string `json:"text"`
		MIME string `json:"mimeType"` // of an image, a sound or a linked file
		Name string `json:"name"`     // of a linked file
	} `json:"content"`
	Text string `json:"text"`
}

// words returns the text. What cannot be shown here leaves a note of its kind, such as "[image image/png]", so that
// whoever watches knows that something came.
func (t text) words() string {
	c := t.Content
	switch {
	case c.Text != "":
		return c.Text
	case t.Text != "" || c.Type == "" || c.Type == "text":
		return t.Text
	}
	note := []string{c.Type}
	for _, more := range []string{c.MIME, c.Name} {
		if more != "" {
			note = append(note, more)
		}
	}
	return "[" + short(strings.Join(note, " "), longestNote) + "]"
}

// longestNote bounds the note of something that cannot be shown, in bytes.
const longestNote = 200

// translate reads an update. known is false for a kind that we do not know, or cannot read; a known kind that
// there is nothing to see of gives nil. Words are taken only from the two kinds that are words: an unknown kind
// never becomes an answer because it has a text somewhere.
func translate(raw json.RawMessage) (update agent.Update, known bool) {
	var kind struct {
		SessionUpdate string `json:"sessionUpdate"`
	}
	if json.Unmarshal(raw, &kind) != nil {
		return nil, false
	}
	switch kind.SessionUpdate {
	case "agent_message_chunk", "agent_thought_chunk":
		return words(kind.SessionUpdate, raw)
	case "tool_call":
		return toolCall(raw)
	case "tool_call_update":
		return toolChange(raw)
	case "plan":
		return plan(raw)
	case "usage_update":
		var u sdk.SessionUsageUpdate
		if json.Unmarshal(raw, &u) != nil {
			return nil, false
		}
		return agent.Usage{Total: u.Used}, true
	case "user_message_chunk", "available_commands_update", "current_mode_update", "config_option_update",
		"session_info_update", "plan_update", "plan_removed":
		return nil, true
	}
	return nil, false
}

func words(kind string, raw json.RawMessage) (agent.Update, bool) {
	var t text
	if json.Unmarshal(raw, &t) != nil {
		return nil, false
	}
	switch {
	case t.words() == "":
		return nil, true
	case kind == "agent_thought_chunk":
		return agent.Thought{Text: t.words()}, true
	}
	return agent.Message{Text: t.words()}, true
}

func toolCall(raw json.RawMessage) (agent.Update, bool) {
	var u sdk.SessionUpdateToolCall
	if json.Unmarshal(raw, &u) != nil {
		return nil, false
	}
	return agent.ToolCall{ID: string(u.ToolCallId), Title: u.Title, Kind: agent.ToolKind(u.Kind),
		Status: agent.ToolStatus(u.Status)}, true
}

func toolChange(raw json.RawMessage) (agent.Update, bool) {
	var u sdk.SessionToolCallUpdate
	if json.Unmarshal(raw, &u) != nil {
		return nil, false
	}
	call := agent.ToolCall{ID: string(u.ToolCallId)}
	if u.Title != nil {
		call.Title = *u.Title
	}
	if u.Kind != nil {
		call.Kind = agent.ToolKind(*u.Kind)
	}
	if u.Status != nil {
		call.Status = agent.ToolStatus(*u.Status)
	}
	return call, true
}

func plan(raw json.RawMessage) (agent.Update, bool) {
	var u sdk.SessionUpdatePlan
	if json.Unmarshal(raw, &u) != nil {
		return nil, false
	}
	steps := make([]string, 0, len(u.Entries))
	for _, e := range u.Entries {
		steps = append(steps, e.Content)
	}
	return agent.Plan{Steps: steps}, true
}
