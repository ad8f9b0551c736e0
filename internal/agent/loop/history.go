package loop

import (
	"encoding/json"
	"fmt"
	"slices"

	"familiar/internal/llm"
)

// History is a conversation, to be kept and to go on with. Its JSON is a format of ours that stays readable: it has a
// version. What is read from it may be damaged in any way; OpenWith repairs it.
type History struct {
	Messages []llm.Message
	// Foreign says that the conversation has read what came from outside: turns that go on with it stand lower.
	Foreign bool
}

// Clone returns a history that shares nothing that changes.
func (h History) Clone() History {
	c := History{Messages: slices.Clone(h.Messages), Foreign: h.Foreign}
	for i := range c.Messages {
		c.Messages[i].Parts = slices.Clone(c.Messages[i].Parts)
	}
	return c
}

// historyVersion is the version of the format.
const historyVersion = 1

type storedHistory struct {
	Version  int             `json:"version"`
	Foreign  bool            `json:"foreign,omitempty"`
	Messages []storedMessage `json:"messages"`
}

type storedMessage struct {
	Role  llm.Role     `json:"role"`
	Parts []storedPart `json:"parts"`
}

// storedPart is any part. A call's input is kept as text, since a model may write what is no JSON.
type storedPart struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	MIME      string `json:"mime,omitempty"`
	Data      []byte `json:"data,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Input     string `json:"input,omitempty"`
	Failed    bool   `json:"failed,omitempty"`
}

// MarshalJSON writes the format.
func (h History) MarshalJSON() ([]byte, error) {
	stored := storedHistory{Version: historyVersion, Foreign: h.Foreign, Messages: []storedMessage{}}
	for _, m := range h.Messages {
		sm := storedMessage{Role: m.Role, Parts: []storedPart{}}
		for _, p := range m.Parts {
			sm.Parts = append(sm.Parts, store(p))
		}
		stored.Messages = append(stored.Messages, sm)
	}
	return json.Marshal(stored)
}

func store(p llm.Part) storedPart {
	switch p := p.(type) {
	case llm.Text:
		return storedPart{Type: "text", Text: string(p)}
	case llm.Thinking:
		return storedPart{Type: "thinking", Text: p.Text, Signature: p.Signature}
	case llm.Image:
		return storedPart{Type: "image", MIME: p.MIME, Data: p.Data}
	case llm.Call:
		return storedPart{Type: "call", ID: p.ID, Name: p.Name, Input: string(p.Input)}
	case llm.Result:
		return storedPart{Type: "result", ID: p.Call, Text: p.Text, Failed: p.Failed}
	}
	return storedPart{Type: "unknown"}
}

// UnmarshalJSON reads the format. Parts of a type that is not known, and those that are no part at all, are left out:
// one bad part must not cost the conversation.
func (h *History) UnmarshalJSON(data []byte) error {
	var stored struct {
		Version  int  `json:"version"`
		Foreign  bool `json:"foreign"`
		Messages []struct {
			Role  llm.Role          `json:"role"`
			Parts []json.RawMessage `json:"parts"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(data, &stored); err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	if stored.Version != historyVersion {
		return fmt.Errorf("read history: version %d is not understood by this build", stored.Version)
	}
	*h = History{Foreign: stored.Foreign}
	for _, sm := range stored.Messages {
		m := llm.Message{Role: sm.Role}
		for _, raw := range sm.Parts {
			if p := restore(raw); p != nil {
				m.Parts = append(m.Parts, p)
			}
		}
		h.Messages = append(h.Messages, m)
	}
	return nil
}

// restore returns nil for what is no part.
func restore(raw json.RawMessage) llm.Part {
	var p storedPart
	if err := json.Unmarshal(raw, &p); err != nil {
		if p.Type != "image" { // a picture whose data is spoilt is still a place where one stood
			return nil
		}
		p.Data = nil
	}
	switch p.Type {
	case "text":
		return llm.Text(p.Text)
	case "thinking":
		return llm.Thinking{Text: p.Text, Signature: p.Signature}
	case "image":
		return llm.Image{MIME: p.MIME, Data: p.Data}
	case "call":
		return llm.Call{ID: p.ID, Name: p.Name, Input: json.RawMessage(p.Input)}
	case "result":
		return llm.Result{Call: p.ID, Text: p.Text, Failed: p.Failed}
	}
	return nil
}
