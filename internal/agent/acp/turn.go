package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
)

// turn is the prompt that runs.
type turn struct {
	watch  func(agent.Update)
	permit func(ctx context.Context, ask agent.Ask) agent.Answer
	era    int64             // of what comes after its prompt has been begun
	seen   bool              // something came in this turn
	shown  map[string]string // the tool calls that the watcher knows, with their titles
	usage  agent.Usage       // the last that the agent said about it
}

// see shows an update to the watcher.
func (t *turn) see(update agent.Update) {
	t.seen = true
	switch u := update.(type) {
	case agent.Usage:
		t.usage = u
	case agent.ToolCall:
		if title, known := t.shown[u.ID]; !known || title == "" {
			t.shown[u.ID] = u.Title
		}
	}
	t.watch(update)
}

// errTurnOver ends the permission requests of a turn that has ended.
var errTurnOver = errors.New("the turn has ended")

// enterTurn makes w the watcher of what comes from now on. over ends the questions of the turn; leaveTurn waits
// for a callback that is running, so that w is never called after the turn.
func (s *session) enterTurn(ctx context.Context, w agent.Watcher) (_ *turn, over func(), _ error) {
	s.turnLock.Lock()
	defer s.turnLock.Unlock()
	if s.turn != nil {
		return nil, nil, errors.New("prompt: another prompt is running in this session")
	}
	questions, end := context.WithCancelCause(ctx)
	s.cutOff.Store(false)
	s.turn = &turn{watch: w.Saw, era: s.conn.era.Load() + 1, shown: map[string]string{}, permit: func(link context.Context, ask agent.Ask) agent.Answer {
		ctx, cancel := context.WithCancelCause(questions)
		defer cancel(nil)
		defer context.AfterFunc(link, func() { cancel(agent.ErrGone) })()
		if ctx.Err() != nil {
			return agent.Answer{}
		}
		a := w.Permit(ctx, ask)
		if ctx.Err() != nil {
			s.cutOff.Store(true)
			return agent.Answer{} // nobody may answer for a turn that is over
		}
		return a
	}}
	return s.turn, func() { end(errTurnOver) }, nil
}

func (s *session) leaveTurn() {
	s.turnLock.Lock()
	defer s.turnLock.Unlock()
	s.turn = nil
}

// notice translates what the agent tells us. What is not about this session is not looked at.
func (s *session) notice(method string, params json.RawMessage) (agent.Update, bool) {
	if method != sdk.ClientMethodSessionUpdate {
		s.log.Debug("ignored a notification of the agent", "method", short(method, 80))
		return nil, false
	}
	var u sessionUpdate
	if json.Unmarshal(params, &u) != nil {
		s.log.Debug("ignored an update that cannot be read")
		return nil, false
	}
	if name := s.name.Load(); name != nil && *name != u.SessionID {
		s.log.Debug("ignored an update for a session that is not this one")
		return nil, false
	}
	update, known := translate(u.Update)
	if !known {
		s.log.Debug("ignored an update of a kind that is not known")
	}
	if m, ok := update.(agent.Message); ok && s.warns(m.Text) {
		return nil, true
	}
	return update, known
}

// warns tells an agent's own warning, with which it begins a turn, from what it has to say. Only the reader calls it.
func (s *session) warns(words string) bool {
	if era := s.conn.era.Load(); s.spoke != era {
		for _, begin := range s.agent.profile.Warnings {
			if strings.HasPrefix(strings.TrimSpace(words), begin) {
				return true
			}
		}
		s.spoke = era
	}
	return false
}

// saw hands an update to the watcher. What comes outside a turn is not for anybody, and neither is what came before
// the turn's prompt: an agent may tell an earlier conversation again for as long as it likes.
func (s *session) saw(update agent.Update, era int64) {
	s.turnLock.Lock()
	defer s.turnLock.Unlock()
	if s.door.Touch != nil {
		s.door.Touch()
	}
	if s.turn == nil || era < s.turn.era {
		return
	}
	s.turn.see(update)
}

// content makes the blocks of a prompt what the protocol calls them.
func (s *session) content(blocks []agent.Block) ([]block, error) {
	made := make([]block, 0, len(blocks))
	for _, b := range blocks {
		switch b := b.(type) {
		case agent.Text:
			made = append(made, block{Type: "text", Text: new(string(b))})
		case agent.Image:
			if !s.can.Image {
				return nil, errors.New("prompt: the agent takes no images")
			}
			made = append(made, block{Type: "image", MIME: b.MIME, Data: b.Data})
		default:
			return nil, fmt.Errorf("prompt: a block of type %T is not known", b)
		}
	}
	return made, nil
}

// block is a piece of a prompt on the wire. Data is written as base64, without a copy of our own.
type block struct {
	Type string  `json:"type"`
	Text *string `json:"text,omitempty"`
	MIME string  `json:"mimeType,omitempty"`
	Data []byte  `json:"data,omitempty"`
}
