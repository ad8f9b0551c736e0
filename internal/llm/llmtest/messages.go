package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// This file is Anthropic's dialect.

// askedMessages is a request, as far as a script can match on it.
type askedMessages struct {
	Model    string          `json:"model"`
	Stream   bool            `json:"stream"`
	System   json.RawMessage `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

// askedBlock is a block of a message in a request.
type askedBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	ToolUse string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
}

// blocks reads a content, which is a text or a list.
func blocks(raw json.RawMessage) []askedBlock {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []askedBlock{{Type: "text", Text: text}}
	}
	var list []askedBlock
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

func words(list []askedBlock) string {
	var b strings.Builder
	for _, one := range list {
		b.WriteString(one.Text)
	}
	return b.String()
}

// readMessages turns the body of a request into what scripts match on.
func readMessages(body []byte) (Request, error) {
	var in askedMessages
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	q := Request{Model: in.Model, Stream: in.Stream, Body: body, System: words(blocks(in.System))}
	calls := map[string]string{}
	all := []string{q.System}
	for _, m := range in.Messages {
		list := blocks(m.Content)
		text := words(list)
		all = append(all, text)
		images, results := 0, false
		for _, b := range list {
			switch b.Type {
			case "image":
				images++
			case "tool_use":
				calls[b.ID] = b.Name
			case "tool_result":
				results = true
				q.AfterTool, q.ToolName, q.ToolResult = true, calls[b.ToolUse], words(blocks(b.Content))
				all = append(all, q.ToolResult)
			}
		}
		if m.Role == "user" && (text != "" || images > 0) {
			q.LastUser, q.Images, q.AfterTool = text, images, results
		}
	}
	q.AllText = strings.Join(all, "\n")
	for _, t := range in.Tools {
		q.Tools = append(q.Tools, t.Name)
	}
	return q, nil
}

// sentBlock is a block of an answer, begun or whole.
type sentBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

type sentDelta struct {
	Type        string  `json:"type,omitempty"`
	Text        string  `json:"text,omitempty"`
	Thinking    string  `json:"thinking,omitempty"`
	Signature   string  `json:"signature,omitempty"`
	PartialJSON *string `json:"partial_json,omitempty"`
	StopReason  string  `json:"stop_reason,omitempty"`
}

type sentMessage struct {
	ID      string      `json:"id"`
	Type    string      `json:"type"`
	Role    string      `json:"role"`
	Model   string      `json:"model"`
	Content []sentBlock `json:"content"`
	Stop    *string     `json:"stop_reason"`
	Usage   sentUsage   `json:"usage"`
}

type sentUsage struct {
	Input   int `json:"input_tokens"`
	Output  int `json:"output_tokens"`
	Read    int `json:"cache_read_input_tokens"`
	Written int `json:"cache_creation_input_tokens"`
}

// sentEvent is an event of a stream; each type has some of the fields.
type sentEvent struct {
	Type    string       `json:"type"`
	Index   *int         `json:"index,omitempty"`
	Message *sentMessage `json:"message,omitempty"`
	Block   *sentBlock   `json:"content_block,omitempty"`
	Delta   *sentDelta   `json:"delta,omitempty"`
	Usage   *sentUsage   `json:"usage,omitempty"`
}

func (r Reply) message(model string) sentMessage {
	return sentMessage{ID: "msg_stub", Type: "message", Role: "assistant", Model: model, Content: []sentBlock{},
		Usage: sentUsage{Input: r.Usage.Input - r.Usage.Cached, Output: r.Usage.Output, Read: r.Usage.Cached}}
}

func (r Reply) stopReason() string {
	switch {
	case len(r.ToolCalls) > 0:
		return "tool_use"
	case r.Finish == "length":
		return "max_tokens"
	case r.Finish == "" || r.Finish == "stop":
		return "end_turn"
	}
	return r.Finish
}

// content returns the blocks of an answer, whole.
func (r Reply) content() []sentBlock {
	var list []sentBlock
	if r.Redacted != "" {
		list = append(list, sentBlock{Type: "redacted_thinking", Data: r.Redacted})
	}
	if r.Thinking != "" || r.Signature != "" {
		list = append(list, sentBlock{Type: "thinking", Thinking: &r.Thinking, Signature: &r.Signature})
	}
	if r.Text != "" {
		list = append(list, sentBlock{Type: "text", Text: &r.Text})
	}
	for i, c := range r.ToolCalls {
		input := c.Arguments
		if input == "" {
			input = "{}"
		}
		list = append(list, sentBlock{Type: "tool_use", ID: fmt.Sprintf("toolu_%d", i), Name: c.Name, Input: json.RawMessage(input)})
	}
	return list
}

func wholeMessages(w http.ResponseWriter, model string, r Reply) {
	w.Header().Set("Content-Type", "application/json")
	m := r.message(model)
	m.Content, m.Stop = r.content(), new(r.stopReason())
	_ = json.NewEncoder(w).Encode(m) // an error: the client is gone
}

func streamMessages(gone <-chan struct{}, w http.ResponseWriter, model string, r Reply) {
	e := newEvents(gone, w, model, r)
	e.say(sentEvent{Type: "message_start", Message: new(r.message(model))})
	e.say(sentEvent{Type: "ping"})
	for i, b := range r.content() {
		e.block(i, b)
	}
	if e.failed {
		return
	}
	e.say(sentEvent{Type: "message_delta", Delta: &sentDelta{StopReason: r.stopReason()}, Usage: &sentUsage{Output: r.Usage.Output}})
	if !r.NoDone {
		e.say(sentEvent{Type: "message_stop"})
	}
}

// block sends a block in the pieces in which it comes.
func (e *events) block(index int, b sentBlock) {
	if e.failed {
		return
	}
	begun, signature, deltas := b, "", []sentDelta{}
	switch b.Type {
	case "text":
		begun.Text = new("")
		for _, p := range pieces(*b.Text, e.reply.ChunkSize) {
			deltas = append(deltas, sentDelta{Type: "text_delta", Text: p})
		}
	case "thinking":
		begun.Thinking, begun.Signature, signature = new(""), new(""), *b.Signature
		for _, p := range pieces(*b.Thinking, e.reply.ChunkSize) {
			deltas = append(deltas, sentDelta{Type: "thinking_delta", Thinking: p})
		}
	case "tool_use":
		begun.Input = json.RawMessage("{}")
		cut := []string{string(b.Input)}
		if e.reply.Split {
			cut = pieces(string(b.Input), e.reply.ChunkSize)
		}
		for _, p := range cut {
			deltas = append(deltas, sentDelta{Type: "input_json_delta", PartialJSON: &p})
		}
	}
	e.say(sentEvent{Type: "content_block_start", Index: &index, Block: &begun})
	for _, d := range deltas {
		e.around(func() { e.say(sentEvent{Type: "content_block_delta", Index: &index, Delta: &d}) })
	}
	if e.failed {
		return
	}
	if signature != "" {
		e.say(sentEvent{Type: "content_block_delta", Index: &index, Delta: &sentDelta{Type: "signature_delta", Signature: signature}})
	}
	e.say(sentEvent{Type: "content_block_stop", Index: &index})
}

func (e *events) say(s sentEvent) {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	e.raw("event: " + s.Type + "\ndata: " + string(data) + "\n\n")
}
