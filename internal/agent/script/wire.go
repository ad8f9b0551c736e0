package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"familiar/internal/agent"
)

// answer answers a request, in the mood that the script has, and returns the line.
func (v *server) answer(f frame, result json.RawMessage, err *fault) []byte {
	id := f.ID
	switch v.script.Moods.IDs {
	case "string":
		id = json.RawMessage(`"` + string(id) + `"`)
	case "float":
		id = json.RawMessage(string(id) + ".0")
	}
	line, _ := json.Marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		frame
	}{"2.0", frame{ID: id, Result: result, Error: err}})
	v.line(line)
	return line
}

// line writes a line, with everything that the mood puts around it.
func (v *server) line(line []byte) {
	v.write.Lock()
	defer v.write.Unlock()
	m := v.script.Moods
	var b strings.Builder
	if m.BOM && !v.begun {
		b.WriteString("\xef\xbb\xbf")
	}
	v.begun = true
	b.WriteString(m.Noise)
	b.Write(line)
	if m.CRLF {
		b.WriteByte('\r')
	}
	b.WriteByte('\n')
	_, _ = v.out.Write([]byte(b.String())) // a client that is gone ends us through our input
}

// request asks the client for something, and waits.
func (v *server) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	v.mu.Lock()
	v.last++
	n := v.last
	come := make(chan json.RawMessage, 1)
	v.waiting[n] = come
	v.mu.Unlock()
	line, err := json.Marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		frame
	}{"2.0", frame{ID: json.RawMessage(fmt.Sprint(n)), Method: method, Params: params}})
	if err != nil {
		return nil, err
	}
	v.line(line)
	select {
	case answer := <-come:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answered hands an answer, result or error, to the request that waits for it.
func (v *server) answered(f frame) {
	var n int64
	_ = json.Unmarshal(f.ID, &n)
	v.mu.Lock()
	come := v.waiting[n]
	delete(v.waiting, n)
	v.mu.Unlock()
	answer := f.Result
	if f.Error != nil {
		answer, _ = json.Marshal(f.Error)
	}
	if come != nil {
		come <- answer
	}
}

// session returns the id of the conversation.
func (v *server) session() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.talk.id
}

// update is an update on the wire.
type update struct {
	Kind    string           `json:"sessionUpdate"`
	Content *content         `json:"content,omitempty"`
	Call    string           `json:"toolCallId,omitempty"`
	Title   string           `json:"title,omitempty"`
	Tool    agent.ToolKind   `json:"kind,omitempty"`
	Status  agent.ToolStatus `json:"status,omitempty"`
	Entries []entry          `json:"entries,omitempty"`
	Used    int              `json:"used,omitempty"`
}

type content struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type entry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

// show writes an update as a notification.
func (v *server) show(u agent.Update) {
	var w update
	switch u := u.(type) {
	case agent.Message:
		w = update{Kind: "agent_message_chunk", Content: &content{"text", u.Text}}
	case agent.Thought:
		w = update{Kind: "agent_thought_chunk", Content: &content{"text", u.Text}}
	case agent.ToolCall:
		w = update{Kind: "tool_call", Call: u.ID, Title: u.Title, Tool: u.Kind, Status: u.Status}
		if u.Status == agent.StatusCompleted || u.Status == agent.StatusFailed {
			w.Kind = "tool_call_update"
		}
	case agent.Plan:
		w.Kind = "plan"
		for _, step := range u.Steps {
			w.Entries = append(w.Entries, entry{step, "medium", "pending"})
		}
	case agent.Usage:
		w = update{Kind: "usage_update", Used: u.Total}
	}
	line, _ := json.Marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  struct {
			Session string `json:"sessionId"`
			Update  update `json:"update"`
		} `json:"params"`
	}{JSONRPC: "2.0", Method: "session/update", Params: struct {
		Session string `json:"sessionId"`
		Update  update `json:"update"`
	}{v.session(), w}})
	v.line(line)
}
