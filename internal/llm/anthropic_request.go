package llm

import "encoding/json"

// standardTokens bounds an answer when the question does not: the dialect wants a number.
const standardTokens = 16_384

type messagesRequest struct {
	Model     string            `json:"model"`
	MaxTokens int               `json:"max_tokens"`
	System    string            `json:"system,omitempty"`
	Messages  []messagesMessage `json:"messages"`
	Tools     []messagesTool    `json:"tools,omitempty"`
	Output    *messagesOutput   `json:"output_config,omitempty"`
	// Cache lets the provider keep what it has read: a conversation is sent again with each call of a tool.
	Cache  messagesCache `json:"cache_control"`
	Stream bool          `json:"stream"`
}

type messagesCache struct {
	Type string `json:"type"`
}

type messagesOutput struct {
	Format struct {
		Type   string          `json:"type"`
		Schema json.RawMessage `json:"schema"`
	} `json:"format"`
}

type messagesTool struct {
	Name   string          `json:"name"`
	Doc    string          `json:"description,omitempty"`
	Schema json.RawMessage `json:"input_schema"`
}

type messagesMessage struct {
	Role    Role            `json:"role"`
	Content []messagesBlock `json:"content"`
}

// messagesBlock is one of the blocks of the dialect, by its type.
type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	Source    *messagesImage  `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUse   string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	Failed    bool            `json:"is_error,omitempty"`
}

type messagesImage struct {
	Type string `json:"type"`
	MIME string `json:"media_type"`
	Data []byte `json:"data"` // encoding/json writes base64
}

func (c *client) messagesRequest(q Question) messagesRequest {
	made := messagesRequest{Model: c.model, MaxTokens: q.MaxTokens, System: q.System, Stream: true,
		Messages: []messagesMessage{}, Cache: messagesCache{"ephemeral"}}
	if made.MaxTokens <= 0 {
		made.MaxTokens = standardTokens
	}
	for _, m := range q.Messages {
		sent := messagesMessage{Role: m.Role}
		for _, part := range m.Parts {
			if b, ok := blockOf(part); ok {
				sent.Content = append(sent.Content, b)
			}
		}
		if len(sent.Content) > 0 {
			made.Messages = append(made.Messages, sent)
		}
	}
	for _, t := range q.Tools {
		made.Tools = append(made.Tools, messagesTool{t.Name, t.Doc, t.schema()})
	}
	if q.Schema != nil {
		made.Output = &messagesOutput{}
		made.Output.Format.Type, made.Output.Format.Schema = "json_schema", q.Schema
	}
	return made
}

// schema is what a tool takes: an object without fields, when nothing is said.
func (t Tool) schema() json.RawMessage {
	if len(t.Params) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Params
}

// blockOf translates a part of a tidy message. Thoughts that another provider signed, or nobody, are left out.
func blockOf(part Part) (messagesBlock, bool) {
	switch part := part.(type) {
	case Text:
		return messagesBlock{Type: "text", Text: string(part)}, true
	case Thinking:
		if data, ok := proven(redactedProof, part.Signature); ok {
			return messagesBlock{Type: "redacted_thinking", Data: data}, true
		}
		signature, ok := proven(anthropicProof, part.Signature)
		return messagesBlock{Type: "thinking", Thinking: &part.Text, Signature: signature}, ok
	case Image:
		return messagesBlock{Type: "image", Source: &messagesImage{"base64", part.MIME, part.Data}}, true
	case Call:
		return messagesBlock{Type: "tool_use", ID: part.ID, Name: part.Name, Input: part.Input}, true
	case Result:
		return messagesBlock{Type: "tool_result", ToolUse: part.Call, Content: part.Text, Failed: part.Failed}, true
	}
	return messagesBlock{}, false
}
