package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// The version of the dialect that this client speaks; the provider keeps it as it is.
const anthropicVersion = "2023-06-01"

// askMessages asks in Anthropic's dialect.
func (c *client) askMessages(w *wire, q Question, out *answering) error {
	body, err := json.Marshal(c.messagesRequest(q))
	if err != nil {
		return c.problem(c.model, Rejected, fmt.Errorf("write the request: %w", noWords(err)))
	}
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPost, c.base+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return c.problem(c.model, Unreached, errors.New("llm.baseUrl is not an address"))
	}
	c.sign(req)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := w.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	stream := messagesStream{w: w, out: out, blocks: map[int]*block{}}
	for in := newEvents(resp.Body); !stream.over; {
		e, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			if out.ended { // only the last word is missing
				return nil
			}
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		if err := stream.take(e.Data); err != nil {
			return err
		}
	}
	if !out.ended {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// messagesStream reads the events of one answer.
type messagesStream struct {
	w      *wire
	out    *answering
	blocks map[int]*block // those that have begun and not ended
	usage  messagesUsage
	over   bool
}

// block is a part of an answer that is being sent.
type block struct {
	call  *Call
	input []byte
}

type messagesEvent struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage messagesUsage `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage messagesUsage `json:"usage"`
}

// messagesUsage counts what was read anew, written to and read from the cache apart.
type messagesUsage struct {
	Input   int `json:"input_tokens"`
	Output  int `json:"output_tokens"`
	Written int `json:"cache_creation_input_tokens"`
	Read    int `json:"cache_read_input_tokens"`
}

// take reads one event. Events and blocks of kinds that we do not know are passed over, as the provider asks.
func (s *messagesStream) take(data []byte) error {
	var e messagesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return s.w.garbage("an event of the stream", err)
	}
	begun := 0
	if e.Block.Type == "tool_use" {
		begun = 1
	}
	d, b := e.Delta, e.Block
	if err := s.out.bear(begun, len(d.Text)+len(d.Thinking)+len(d.Signature)+len(d.PartialJSON)+
		len(b.Text)+len(b.Thinking)+len(b.Signature)+len(b.Data)+len(b.Input)+len(b.Name)); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		s.count(e.Message.Usage)
	case "content_block_start":
		s.begin(e)
	case "content_block_delta":
		s.delta(e)
	case "content_block_stop":
		s.end(e.Index)
	case "message_delta":
		s.count(e.Usage)
		if e.Delta.StopReason != "" {
			s.out.stop, s.out.ended = messagesStop(e.Delta.StopReason), true
		}
	case "message_stop":
		s.over = true
	case "error":
		return s.w.failed(data)
	}
	return nil
}

func (s *messagesStream) begin(e messagesEvent) {
	switch b := e.Block; b.Type {
	case "text":
		s.out.text(b.Text)
	case "thinking":
		s.out.close()
		s.out.thinking(b.Thinking)
		s.sign(b.Signature)
	case "redacted_thinking":
		s.out.close()
		s.out.sign(proofOf(redactedProof, b.Data))
		s.out.close()
	case "tool_use":
		begun := &block{call: &Call{ID: b.ID, Name: b.Name}}
		if string(b.Input) != "{}" && string(b.Input) != "null" {
			begun.input = b.Input
		}
		s.blocks[e.Index] = begun
	}
}

func (s *messagesStream) delta(e messagesEvent) {
	switch d := e.Delta; d.Type {
	case "text_delta":
		s.out.text(d.Text)
	case "thinking_delta":
		s.out.thinking(d.Thinking)
	case "signature_delta":
		s.sign(d.Signature)
	case "input_json_delta":
		if b := s.blocks[e.Index]; b != nil {
			b.input = append(b.input, d.PartialJSON...)
		}
	}
}

// sign keeps a signature, which may come in pieces, with the mark of its dialect before it.
func (s *messagesStream) sign(signature string) {
	if signature != "" && s.out.signature == "" {
		signature = proofOf(anthropicProof, signature)
	}
	s.out.sign(signature)
}

func (s *messagesStream) end(index int) {
	b := s.blocks[index]
	if b == nil {
		if s.out.thought {
			s.out.close()
		}
		return
	}
	delete(s.blocks, index)
	b.call.Input = b.input
	s.out.call(*b.call)
}

// count takes the newest figures: what comes later is of the whole answer.
func (s *messagesStream) count(u messagesUsage) {
	s.usage.Input, s.usage.Output = max(s.usage.Input, u.Input), max(s.usage.Output, u.Output)
	s.usage.Written, s.usage.Read = max(s.usage.Written, u.Written), max(s.usage.Read, u.Read)
	s.out.usage = Usage{Input: s.usage.Input + s.usage.Written + s.usage.Read, Output: s.usage.Output, Cached: s.usage.Read}
}

func messagesStop(reason string) Stop {
	switch reason {
	case "tool_use":
		return WantsTool
	case "max_tokens", "model_context_window_exceeded":
		return TooLong
	case "refusal":
		return Refused
	}
	return Ended
}
