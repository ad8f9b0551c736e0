package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// unsentGrace is how long a cancelled prompt may take to get into the agent's pipe, before the agent counts as stuck.
const unsentGrace = time.Second

// leavingGrace is how long a cancelled turn may take to end when the program leaves: it has waited for the turn already.
const leavingGrace = time.Second

// Outcomes of an idle check, for the metric.
const (
	OutcomeAlive = "alive"        // it took our cancel
	OutcomeDead  = "dead"         // it did not, or said nothing even then
	OutcomeGone  = "process_gone" // it was silent for too long when its process ended
)

// prompting is a session/prompt.
type prompting struct {
	SessionID string  `json:"sessionId"`
	Prompt    []block `json:"prompt"`
}

// Prompt runs one turn; see agent.Session.
func (s *session) Prompt(ctx context.Context, _ chat.Turn, blocks []agent.Block, w agent.Watcher) (agent.Result, error) {
	content, err := s.content(blocks)
	if err != nil {
		return agent.Result{}, err
	}
	if limit := ms(s.agent.cfg.PromptTimeoutMs); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, chat.ErrTooLong)
		defer cancel()
	}
	turn, over, err := s.enterTurn(ctx, w)
	if err != nil {
		return agent.Result{}, err
	}
	defer s.leaveTurn()
	defer over()
	s.errors.forget()
	result, err := s.play(ctx, turn, content, over)
	if s.agent.profile.RetryEmpty && s.after.cancelled && err == nil && s.empty(turn, result) {
		result, err = s.play(ctx, turn, content, over)
	}
	s.after.cancelled = err != nil || result.Stop == agent.Cancelled
	return result, err
}

// empty tells a turn in which nothing at all happened.
func (s *session) empty(t *turn, r agent.Result) bool {
	s.turnLock.Lock()
	defer s.turnLock.Unlock()
	return r.Stop == agent.EndTurn && !t.seen && r.Usage.Output == 0
}

// play sends the prompt and waits for its end.
func (s *session) play(ctx context.Context, t *turn, content []block, over func()) (agent.Result, error) {
	made, err := begin(ctx, s.conn, sdk.AgentMethodSessionPrompt, prompting{SessionID: s.ID(), Prompt: content}, over)
	if err != nil {
		return agent.Result{}, err
	}
	if err := s.await(ctx, made); err != nil {
		return agent.Result{}, fmt.Errorf("prompt: %w", err)
	}
	if made.err != nil {
		return agent.Result{}, fmt.Errorf("prompt: %w", s.spelt(made.err))
	}
	var answer sdk.PromptResponse
	if err := json.Unmarshal(made.result, &answer); err != nil {
		return agent.Result{}, fmt.Errorf("prompt: read the answer: %w", err)
	}
	s.turnLock.Lock()
	defer s.turnLock.Unlock()
	result := agent.Result{Stop: agent.StopReason(answer.StopReason), Usage: t.usage}
	if u := answer.Usage; u != nil {
		result.Usage = agent.Usage{Input: u.InputTokens, Output: u.OutputTokens, Total: u.TotalTokens}
	}
	return result, nil
}

// await returns nil when the answer is there. An agent that has gone silent is cancelled once, to see whether it
// lives; when it is silent for as long again, it is given up.
func (s *session) await(ctx context.Context, made *call) error {
	idle := s.agent.cfg.IdleTimeout
	var check <-chan time.Time
	if idle.Enabled {
		ticker := time.NewTicker(ms(idle.CheckIntervalMs))
		defer ticker.Stop()
		check = ticker.C
	}
	limit, probed := ms(idle.TimeoutMs), false
	for {
		select {
		case <-made.done:
			if probed {
				return agent.ErrIdle // our cancel has cut the turn off: somebody has to be told
			}
			return nil
		case <-ctx.Done():
			return s.cancel(ctx, made)
		case <-s.conn.dead:
			if idle.Enabled && s.conn.silent() >= limit && !s.asking.Load() {
				s.idled(OutcomeGone)
			}
			return s.conn.gone()
		case <-check:
			switch {
			case s.asking.Load() || s.conn.silent() < limit:
			case probed || !s.probe(ctx, made):
				s.idled(OutcomeDead)
				s.conn.fail(agent.ErrIdle)
				return agent.ErrIdle
			default:
				probed = true
				s.idled(OutcomeAlive)
				s.conn.stamp()
			}
		}
	}
}

// idled counts what became of a silent agent.
func (s *session) idled(outcome string) { s.agent.deps.Idle(s.platform, outcome) }

// probe cancels a silent turn, and reports whether the agent still takes what it is sent.
func (s *session) probe(ctx context.Context, made *call) bool {
	ctx, cancel := context.WithTimeout(ctx, ms(s.agent.cfg.CancelGraceMs))
	defer cancel()
	sent, err := notify(ctx, s.conn, sdk.AgentMethodSessionCancel, sdk.CancelNotification{SessionId: sdk.SessionId(s.ID())})
	if err != nil {
		return false
	}
	select {
	case <-sent:
		return true
	case <-made.done:
		return true
	case <-ctx.Done():
		return false
	case <-s.conn.dead:
		return false
	}
}

// cancel ends the turn: the agent is told, and has a grace to say that it stopped. One that does not even take
// the prompt out of its pipe has none.
func (s *session) cancel(ctx context.Context, made *call) error {
	cause := context.Cause(ctx)
	grace := ms(s.agent.cfg.CancelGraceMs)
	if lost := s.agent.profile.LostWhenCancelled; lost > 0 && (s.asking.Load() || s.cutOff.Load()) {
		grace = min(grace, lost)
	}
	if errors.Is(cause, chat.ErrShutdown) {
		grace = min(grace, leavingGrace)
	}
	last, end := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer end()
	unsent := time.NewTimer(min(unsentGrace, grace))
	defer unsent.Stop()
	select {
	case <-made.sent:
	case <-s.conn.dead:
		return cause
	case <-unsent.C:
		s.conn.forget(made)
		s.conn.fail(errStuck)
		return cause
	}
	_, err := notify(last, s.conn, sdk.AgentMethodSessionCancel, sdk.CancelNotification{SessionId: sdk.SessionId(s.ID())})
	if err == nil {
		select {
		case <-made.done:
			return cause
		case <-s.conn.dead:
			return cause
		case <-last.Done():
		}
	}
	s.conn.forget(made)
	s.conn.fail(errNoCancel)
	return cause
}
