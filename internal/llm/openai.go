package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// askChat asks in OpenAI's dialect of chat completions.
func (c *client) askChat(w *wire, q Question, out *answering) error {
	request, err := c.chatRequest(q)
	if err != nil {
		return err
	}
	w.change = extras{place: c.place, calls: proofs(q)}.add
	config := openai.DefaultConfig(c.key.Reveal())
	config.BaseURL = c.base
	config.HTTPClient = w
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(w.ctx, request)
	switch {
	case errors.Is(err, openai.ErrChatCompletionInvalidModel):
		return c.problem(c.model, NoModel, errors.New("the model is none for chat completions"))
	case err != nil:
		return err
	}
	defer stream.Close()
	// The library's reader loses errors that come after a comment, and fields that it does not know.
	return (&chatStream{w: w, out: out}).read(newEvents(w.body))
}

// chatStream reads the chunks of one answer.
type chatStream struct {
	w     *wire
	out   *answering
	calls []*chatCall
}

// chatCall is a call that is being sent.
type chatCall struct {
	index int
	id    string
	name  string
	input []byte
	proof string
}

// chatChunk is a piece of an answer. The library's own type lacks what compatible servers add.
type chatChunk struct {
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Delta  chatDelta `json:"delta"`
		Finish string    `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Input   int `json:"prompt_tokens"`
		Output  int `json:"completion_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

type chatDelta struct {
	Content          string          `json:"content"`
	ReasoningContent string          `json:"reasoning_content"` // DeepSeek, vLLM, llama.cpp
	Reasoning        string          `json:"reasoning"`         // OpenRouter, Ollama
	Refusal          string          `json:"refusal"`
	Calls            []chatDeltaCall `json:"tool_calls"`
}

type chatDeltaCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Extra chatExtra `json:"extra_content"`
}

// chatExtra is where Gemini puts the proof of its thoughts, which it wants back with the call.
type chatExtra struct {
	Google struct {
		Signature string `json:"thought_signature"`
	} `json:"google"`
}

func (s *chatStream) read(in *events) error {
	for {
		e, err := in.next()
		switch {
		case errors.Is(err, io.EOF) && !s.out.ended:
			return io.ErrUnexpectedEOF
		case errors.Is(err, io.EOF), err == nil && string(e.Data) == "[DONE]":
			s.finish()
			return nil
		case err != nil:
			return err
		}
		var chunk chatChunk
		if err := json.Unmarshal(e.Data, &chunk); err != nil {
			return s.w.garbage("a chunk of the stream", err)
		}
		if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
			return s.w.failed(e.Data)
		}
		if err := s.take(chunk); err != nil {
			return err
		}
	}
}

func (s *chatStream) take(chunk chatChunk) error {
	if u := chunk.Usage; u != nil {
		s.out.usage = Usage{Input: u.Input, Output: u.Output, Cached: u.Details.Cached}
	}
	for _, choice := range chunk.Choices {
		d := choice.Delta
		if err := s.out.bear(0, len(d.Reasoning)+len(d.ReasoningContent)+len(d.Content)+len(d.Refusal)); err != nil {
			return err
		}
		s.out.thinking(d.Reasoning)
		if d.ReasoningContent != "" && d.Reasoning == "" {
			s.out.thinking(d.ReasoningContent)
			if s.out.signature == "" {
				s.out.sign(reasoningProof)
			}
		}
		s.out.text(d.Content)
		s.out.text(d.Refusal)
		for _, call := range d.Calls {
			if err := s.call(call); err != nil {
				return err
			}
		}
		if choice.Finish != "" {
			s.out.stop, s.out.ended = chatStop(choice.Finish), true
		}
		if d.Refusal != "" {
			s.out.stop = Refused
		}
	}
	return nil
}

// call adds a piece of a call to the call that it belongs to. Servers number calls, or give each an id, or neither and
// send one after the other; some give every call the number 0.
func (s *chatStream) call(d chatDeltaCall) error {
	var at *chatCall
	for _, c := range s.calls {
		if d.Index != nil && c.index == *d.Index && (d.ID == "" || c.id == "" || c.id == d.ID) {
			at = c
		}
	}
	if last := len(s.calls) - 1; d.Index == nil && last >= 0 && (d.ID == "" && d.Function.Name == "" || d.ID != "" && s.calls[last].id == d.ID) {
		at = s.calls[last]
	}
	begun := 0
	if at == nil {
		begun = 1
		at = &chatCall{index: len(s.calls)}
		if d.Index != nil {
			at.index = *d.Index
		}
		s.calls = append(s.calls, at)
	}
	if err := s.out.bear(begun, len(d.Function.Name)+len(d.Function.Arguments)+len(d.Extra.Google.Signature)); err != nil {
		return err
	}
	if d.ID != "" {
		at.id = d.ID
	}
	if at.name == "" {
		at.name = d.Function.Name
	}
	at.input = append(at.input, d.Function.Arguments...)
	if proof := d.Extra.Google.Signature; proof != "" {
		at.proof = proofOf(googleProof, proof)
	}
	return nil
}

// finish hands on the calls, which are whole only now.
func (s *chatStream) finish() {
	if s.out.stop == "" {
		s.out.stop = Ended
	}
	for _, c := range s.calls {
		s.out.sign(c.proof)
		s.out.call(Call{ID: c.id, Name: c.name, Input: c.input})
	}
}

func chatStop(reason string) Stop {
	switch reason {
	case "tool_calls", "function_call":
		return WantsTool
	case "length":
		return TooLong
	case "content_filter":
		return Refused
	}
	return Ended
}

// chatRequest writes a question in the dialect.
func (c *client) chatRequest(q Question) (openai.ChatCompletionRequest, error) {
	n := readNotes()
	made := openai.ChatCompletionRequest{Model: c.model, Stream: true, StreamOptions: &openai.StreamOptions{IncludeUsage: true},
		Messages: []openai.ChatCompletionMessage{}}
	if q.System != "" {
		made.Messages = append(made.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: q.System})
	}
	for _, m := range q.Messages {
		if m.Role == Assistant {
			made.Messages = append(made.Messages, c.saidBefore(m)...)
		} else {
			made.Messages = append(made.Messages, n.heardBefore(m)...)
		}
	}
	for _, t := range q.Tools {
		made.Tools = append(made.Tools, openai.Tool{Type: openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{Name: t.Name, Description: t.Doc, Parameters: t.schema()}})
	}
	if q.Schema != nil {
		made.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "answer", Schema: q.Schema, Strict: strict(q.Schema)}}
	}
	if c.id == "openai" {
		made.MaxCompletionTokens = q.MaxTokens
	} else {
		//lint:ignore SA1019 most compatible servers know no other name of it
		made.MaxTokens = q.MaxTokens
	}
	return made, c.permitted(&made)
}

// permitted asks the library whether the vendor would take the request. Some models take tools here only when they do
// not reason first.
func (c *client) permitted(made *openai.ChatCompletionRequest) error {
	if c.id != "openai" {
		return nil
	}
	check := openai.NewReasoningValidator()
	err := check.Validate(*made)
	if errors.Is(err, openai.ErrReasoningToolsRequireResponses) {
		made.ReasoningEffort = openai.ReasoningEffortNone
		err = check.Validate(*made)
	}
	if err != nil {
		return c.problem(c.model, NoModel, fmt.Errorf("the model cannot be asked so: %w", err))
	}
	return nil
}

// saidBefore translates what the model said.
func (c *client) saidBefore(m Message) []openai.ChatCompletionMessage {
	made := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleAssistant}
	var texts []string
	for _, part := range m.Parts {
		switch part := part.(type) {
		case Text:
			texts = append(texts, string(part))
		case Thinking:
			if part.Signature == reasoningProof && c.id == compatible {
				made.ReasoningContent += part.Text
			}
		case Call:
			made.ToolCalls = append(made.ToolCalls, openai.ToolCall{ID: part.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: part.Name, Arguments: string(part.Input)}})
		case Image, Result: // no model says these
		}
	}
	made.Content = strings.Join(texts, "\n\n")
	if made.Content == "" && made.ToolCalls == nil {
		return nil
	}
	return []openai.ChatCompletionMessage{made}
}

// heardBefore translates what a person said, and what tools returned: each result is a message of its own.
func (n notes) heardBefore(m Message) []openai.ChatCompletionMessage {
	var made []openai.ChatCompletionMessage
	var parts []openai.ChatMessagePart
	var texts []string
	for _, part := range m.Parts {
		switch part := part.(type) {
		case Result:
			if part.Failed {
				part.Text = n.FailedResult + part.Text
			}
			made = append(made, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleTool, ToolCallID: part.Call, Content: part.Text})
		case Text:
			texts = append(texts, string(part))
			parts = append(parts, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: string(part)})
		case Image:
			parts = append(parts, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{URL: part.address()}})
		case Thinking, Call: // no person says these
		}
	}
	heard := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser}
	switch {
	case len(parts) == 0:
		return made
	case len(parts) == len(texts): // simple servers take nothing but a text
		heard.Content = strings.Join(texts, "\n\n")
	default:
		heard.MultiContent = parts
	}
	return append(made, heard)
}
