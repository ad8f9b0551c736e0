package serve

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
	"familiar/internal/agent/loop"
	"familiar/internal/chat"
	"familiar/internal/jsonrpc"
	"familiar/internal/llm"
)

// errCancelled is why a turn ends that the client cancels.
var errCancelled = errors.New("the client has cancelled the turn")

// turn is one prompt.
type turn struct {
	session *session
	ctx     context.Context
	end     context.CancelCauseFunc
	over    chan struct{} // closed when the turn has ended and is kept

	// Of the goroutine that the loop watches with.
	shown map[string]bool
	diffs map[string]sdk.ToolCallContent
	used  agent.Usage
}

// prompt takes a prompt. The turn has begun when it returns, so that a cancel that comes next finds it.
func (s *server) prompt(m *jsonrpc.Message) {
	var p sdk.PromptRequest
	err := decode(m, &p)
	var open *session
	if err == nil {
		open, err = s.session(p.SessionId)
	}
	var blocks []agent.Block
	if err == nil {
		blocks, err = content(p.Prompt)
	}
	var t *turn
	if err == nil {
		t, err = open.begin(s.ctx)
	}
	if err != nil {
		s.conn.reply(m.ID, nil, s.fault(m.Method, err))
		return
	}
	if !s.work(func() { s.played(m, t, blocks) }) {
		t.finish()
		s.conn.reply(m.ID, nil, errBusy)
	}
}

// played runs a turn to its end and answers its prompt.
func (s *server) played(m *jsonrpc.Message, t *turn, blocks []agent.Block) {
	result, err := t.play(blocks)
	t.finish()
	if err != nil {
		s.conn.reply(m.ID, nil, s.fault(m.Method, err))
		return
	}
	raw, err := json.Marshal(result)
	if err != nil {
		s.conn.reply(m.ID, nil, s.fault(m.Method, err))
		return
	}
	s.conn.reply(m.ID, raw, nil)
}

// begin makes a turn the one that runs.
func (s *session) begin(ctx context.Context) (*turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, refused("the session is closed")
	case s.turn != nil:
		return nil, refused("a turn is running in this session; cancel it, or wait for its end")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s.turn = &turn{session: s, ctx: ctx, end: cancel, over: make(chan struct{}), shown: map[string]bool{},
		diffs: map[string]sdk.ToolCallContent{}}
	return s.turn, nil
}

// finish makes room for the next turn.
func (t *turn) finish() {
	t.session.mu.Lock()
	t.session.turn = nil
	t.session.mu.Unlock()
	t.end(nil)
	close(t.over)
}

// play runs the turn, and keeps what was said in it.
func (t *turn) play(blocks []agent.Block) (answer sdk.PromptResponse, err error) {
	s := t.session
	defer s.server.recovered(&err)
	s.entitle(blocks)
	before := s.talk.History()
	asked := chat.NewTurn(chat.Talk, chat.Event{From: chat.Person{Platform: "acp", ID: "client"}}, chat.Owner, time.Now())
	s.seat.Begin(t.ctx, asked)
	defer s.seat.End()
	result, err := s.talk.Prompt(t.ctx, asked, blocks, t)
	s.keep(s.kept.said(newest(before, s.talk.History())))
	switch {
	case errors.Is(err, errCancelled), errors.Is(err, agent.ErrGone):
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
	case err != nil:
		return sdk.PromptResponse{}, err
	}
	u := result.Usage
	return sdk.PromptResponse{StopReason: sdk.StopReason(result.Stop),
		Usage: &sdk.Usage{InputTokens: u.Input, OutputTokens: u.Output, TotalTokens: u.Total}}, nil
}

// newest returns the exchange that a history ends with, unless it was there before: a turn that failed may have been
// forgotten.
func newest(before, after loop.History) loop.History {
	last := func(h loop.History) []llm.Message {
		for i, m := range slices.Backward(h.Messages) {
			result := slices.ContainsFunc(m.Parts, func(p llm.Part) bool { _, is := p.(llm.Result); return is })
			if m.Role == llm.User && !result {
				return h.Messages[i:]
			}
		}
		return nil
	}
	exchange := last(after)
	if len(after.Messages) <= len(before.Messages) && reflect.DeepEqual(exchange, last(before)) {
		exchange = nil
	}
	return loop.History{Messages: exchange, Foreign: after.Foreign}
}

// longestTitle is the longest title of a session, in bytes.
const longestTitle = 80

// entitle names a session by the first words that were said in it.
func (s *session) entitle(blocks []agent.Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.title != "" {
		return
	}
	for _, b := range blocks {
		if text, ok := b.(agent.Text); ok {
			first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
			s.title = jsonrpc.Short(strings.ToValidUTF8(strings.Join(strings.Fields(first), " "), ""), longestTitle)
		}
		if s.title != "" {
			break
		}
	}
	if s.title == "" {
		return
	}
	s.keep(s.kept.chose(line{Title: s.title}))
	s.update(sdk.SessionUpdate{SessionInfoUpdate: &sdk.SessionSessionInfoUpdate{Title: sdk.Ptr(s.title),
		UpdatedAt: sdk.Ptr(time.Now().UTC().Format(time.RFC3339))}})
}
