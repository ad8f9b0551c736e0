package loop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/llm"
	"familiar/internal/toolclient"
)

// Session is one conversation with the loop. It is an agent.Session and an agent.Steerer.
type Session struct {
	agent   *Agent
	id      string
	log     *slog.Logger
	foreign *toolclient.Set
	tools   *kit
	always  map[string]bool // tools that were allowed for the whole session; of the running turn

	mu      sync.Mutex
	model   llm.Model
	talk    *talk
	ids     *ids
	fallen  bool // has read what came from outside
	repairs Repairs
	told    bool // of the repairs
	running *turn
	closed  bool
	calls   int           // tool calls that have not returned
	quiet   chan struct{} // closed when the last of them does, after Close
	once    sync.Once
	err     error
}

var (
	_ agent.Session = (*Session)(nil)
	_ agent.Steerer = (*Session)(nil)
)

// load begins with what was said before.
func (s *Session) load(h History) {
	m := mender{words: s.agent.words, ids: newIDs(), decode: true}
	s.talk, s.ids = newTalk(m.mend(h.Clone().Messages)), m.ids
	s.repairs, s.fallen = m.done, h.Foreign
	if s.repairs.Any() {
		s.log.Warn("repaired a conversation that was loaded", "results", s.repairs.Results, "images", s.repairs.Images,
			"texts", s.repairs.Texts, "parts", s.repairs.Parts)
	}
}

// ID is the session's name.
func (s *Session) ID() string { return s.id }

// Can says what the session is able to do.
func (s *Session) Can() agent.Can { return agent.Can{Image: true, Steer: true} }

// Repairs returns what was mended in the history that the session began with. Whoever watches the first turn is told
// once, as a thought.
func (s *Session) Repairs() Repairs { return s.repairs }

// History returns the conversation so far. Between two turns it is whole; while one runs, the last call may still have
// no result.
func (s *Session) History() History {
	s.mu.Lock()
	defer s.mu.Unlock()
	return History{Messages: slices.Clone(s.talk.messages), Foreign: s.fallen}.Clone()
}

// Use lets another model answer from the next request on.
func (s *Session) Use(m llm.Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = m
}

// Model returns the model that answers now.
func (s *Session) Model() llm.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model
}

// Steer hands words to the running turn; see agent.Steerer.
func (s *Session) Steer(text string) error {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.TrimSpace(text) == "" {
		return errors.New("steer: there are no words")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil || s.running.deaf {
		return fmt.Errorf("steer: %w", agent.ErrNoTurn)
	}
	s.running.heard = append(s.running.heard, llm.Text(text))
	return nil
}

// Prompt runs one turn; see agent.Session.
func (s *Session) Prompt(ctx context.Context, t chat.Turn, blocks []agent.Block, w agent.Watcher) (agent.Result, error) {
	if limit := ms(s.agent.cfg.TimeoutMs); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, chat.ErrTooLong)
		defer cancel()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &turn{session: s, turn: t, watch: w, end: cancel}
	if err := s.begin(r); err != nil {
		return agent.Result{}, fmt.Errorf("prompt: %w", err)
	}
	defer s.over(r)
	if ctx.Err() != nil {
		return agent.Result{Stop: agent.Cancelled}, fmt.Errorf("prompt: %w", context.Cause(ctx))
	}
	result, err := r.play(ctx, s.content(blocks))
	if err != nil {
		return result, fmt.Errorf("prompt: %w", err)
	}
	return result, nil
}

// begin makes r the turn that runs.
func (s *Session) begin(r *turn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return agent.ErrGone
	case s.running != nil:
		return errors.New("another prompt is running in this session")
	}
	s.running = r
	if s.fallen {
		r.turn.Standing.Fall(chat.Foreign)
	}
	return nil
}

// over ends the turn, and leaves the conversation as every provider takes it, however the turn ended.
func (s *Session) over(r *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = nil
	r.settle()
}

// content makes parts of what is prompted.
func (s *Session) content(blocks []agent.Block) []llm.Part {
	var parts []llm.Part
	for _, b := range blocks {
		switch b := b.(type) {
		case agent.Text:
			if text := strings.ToValidUTF8(string(b), "\uFFFD"); strings.TrimSpace(text) != "" {
				parts = append(parts, llm.Text(text))
			}
		case agent.Image:
			mime, _, ok := look(b.Data)
			if !ok {
				parts = append(parts, llm.Text(s.agent.words.LostImage))
				continue
			}
			parts = append(parts, llm.Image{MIME: mime, Data: b.Data})
		}
	}
	if len(parts) == 0 {
		parts = append(parts, llm.Text(s.agent.words.NoAnswer))
	}
	return parts
}

// lastWords is how long a call that heeds no end is waited for when the session closes.
const lastWords = 2 * time.Second

// Close ends the session with its turn, its tool calls and its MCP servers. A call that heeds no end is an error: it
// cannot be ended.
func (s *Session) Close() error {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		if s.running != nil {
			s.running.end(agent.ErrGone)
		}
		var quiet chan struct{}
		if s.calls > 0 {
			quiet = make(chan struct{})
			s.quiet = quiet
		}
		s.mu.Unlock()
		s.err = s.foreign.Close()
		if quiet != nil {
			select {
			case <-quiet:
			case <-time.After(lastWords):
				s.err = errors.Join(s.err, errors.New("close session: a tool call does not end"))
			}
		}
		s.agent.left(s)
	})
	return s.err
}

// enter counts a tool call in, and leave counts it out.
func (s *Session) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
}

func (s *Session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls--; s.calls == 0 && s.quiet != nil {
		close(s.quiet)
		s.quiet = nil
	}
}
