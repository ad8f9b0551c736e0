package llmtest

import (
	"encoding/json"
	"strings"
)

// asked is a request for a chat completion, as far as a script can match on it. Everything else is accepted:
// whether a client's requests are right is for the test that reads their bodies.
type asked struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Messages []chatMessage `json:"messages"`
	Tools    []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

type chatMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// words returns the text of a message and how many pictures are in it.
func (m chatMessage) words() (text string, images int) {
	if json.Unmarshal(m.Content, &text) == nil {
		return text, 0
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return string(m.Content), 0
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "image_url" {
			images++
		}
		b.WriteString(p.Text)
	}
	return b.String(), images
}

// read turns the body of a request into what scripts match on.
func read(body []byte) (Request, error) {
	var in asked
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	q := Request{API: Chat, Model: in.Model, Stream: in.Stream, Body: body}
	calls := map[string]string{}
	var all strings.Builder
	for _, m := range in.Messages {
		text, images := m.words()
		all.WriteString(text + "\n")
		switch m.Role {
		case "system", "developer":
			q.System += text
		case "user":
			q.LastUser, q.Images, q.AfterTool, q.ToolName, q.ToolResult = text, images, false, "", ""
		case "tool":
			q.AfterTool, q.ToolName, q.ToolResult = true, calls[m.ToolCallID], text
		default:
			for _, c := range m.ToolCalls {
				calls[c.ID] = c.Function.Name
			}
		}
	}
	q.AllText = all.String()
	for _, t := range in.Tools {
		q.Tools = append(q.Tools, t.Function.Name)
	}
	return q, nil
}
