package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"familiar/internal/chat"
	"familiar/internal/llm"
	"familiar/internal/tool"
	"familiar/internal/toolclient"
)

// errSlow is the cause of a call that took longer than it may.
var errSlow = errors.New("the tool call took too long")

// run makes one call. It runs on the goroutine of the call.
func (r *turn) run(ctx context.Context, c llm.Call, e entry) (out outcome) {
	s := r.session
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a tool panicked", chat.KeyTool, c.Name, chat.KeyErr, fmt.Sprintf("%v\n%s", p, debug.Stack()))
			out = outcome{text: s.agent.words.Panicked, failed: true}
		}
	}()
	input := c.Input
	if len(input) == 0 {
		input = []byte("{}")
	}
	out, err := e.run(ctx, wholeEscapes(input))
	var fault tool.Fault
	if e.foreign && !errors.As(err, &fault) {
		r.fall()
	}
	if err != nil {
		return s.explain(ctx, c.Name, err)
	}
	return out
}

// explain makes of an error what the model is told. What only the operator may know ends in the log.
func (s *Session) explain(ctx context.Context, name string, err error) outcome {
	w := s.agent.words
	var fault tool.Fault
	switch cause := context.Cause(ctx); {
	case errors.As(err, &fault):
		return outcome{text: fault.Say, failed: true}
	case errors.Is(cause, errSlow):
		s.log.Warn("a tool took too long", chat.KeyTool, name)
		return outcome{text: w.TimedOut, failed: true}
	case cause != nil, errors.Is(err, tool.ErrNoTurn):
		return outcome{text: w.TurnEnded, failed: true}
	case errors.Is(err, toolclient.ErrServer):
		s.log.Warn("an MCP server failed", chat.KeyTool, name, chat.KeyErr, err)
		return outcome{text: w.Unavailable, failed: true}
	}
	s.log.Error("a tool failed", chat.KeyTool, name, chat.KeyErr, err)
	return outcome{text: w.Failed, failed: true}
}

// bounded cuts a result to what a model is shown of it.
func (s *Session) bounded(text string) string {
	if most := s.agent.cfg.ResultBytes; most > 0 && len(text) > most {
		return shorten(text, most) + "\n" + s.agent.words.Cut
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// shorten cuts a text to so many bytes, between two characters.
func shorten(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}
