package loop

import (
	"context"
	"strings"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/llm"
)

// turn is one prompt. Its methods run on the goroutine of Prompt unless they say otherwise.
type turn struct {
	session *Session
	turn    chat.Turn
	watch   agent.Watcher
	end     context.CancelCauseFunc
	from    int // where its exchange begins in the conversation
	usage   agent.Usage

	// What came of the answer that is being streamed.
	said   strings.Builder
	shown  []agent.ToolCall // calls that the watcher has been told of
	answer int              // calls of shown that belong to earlier answers

	// Under the session's lock.
	heard []llm.Part // words of Steer that the model has not seen
	deaf  bool       // takes no more of them
}

// play asks and calls until the turn ends.
func (r *turn) play(ctx context.Context, content []llm.Part) (agent.Result, error) {
	s := r.session
	s.mu.Lock()
	r.from = len(s.talk.messages)
	s.talk.add(llm.Message{Role: llm.User, Parts: content})
	notice := s.repairs.Any() && !s.told
	s.told = true
	s.mu.Unlock()
	if notice {
		r.watch.Saw(agent.Thought{Text: s.agent.words.Repaired})
	}
	for step := 0; ; step++ {
		switch cfg := s.agent.cfg; {
		case step >= max(cfg.MaxSteps, 1):
			return r.result(agent.MaxTurnRequests), nil
		case cfg.MaxTurnTokens > 0 && r.usage.Total >= cfg.MaxTurnTokens:
			return r.result(agent.MaxTokens), nil
		}
		r.hear()
		answer, err := r.ask(ctx)
		if err != nil {
			return r.fail(ctx, err)
		}
		calls := r.keep(answer)
		switch {
		case answer.Stop == llm.Refused:
			r.drop()
			r.forget()
			return r.result(agent.Refusal), nil
		case answer.Stop == llm.TooLong: // the last call may be cut off, so none is made
			r.drop()
			return r.result(agent.MaxTokens), nil
		case len(calls) > 0:
			r.serve(ctx, calls)
		case !r.waiting():
			return r.result(agent.EndTurn), nil
		}
		if ctx.Err() != nil {
			return r.result(agent.Cancelled), context.Cause(ctx)
		}
	}
}

func (r *turn) result(stop agent.StopReason) agent.Result {
	return agent.Result{Stop: stop, Usage: r.usage}
}

// hear puts the words that were handed to the turn in front of the next request.
func (r *turn) hear() {
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.heard) > 0 {
		s.talk.tell(r.heard...)
		r.heard = nil
	}
}

// waiting reports whether words wait for the model. When there are none the turn is over, and takes no more.
func (r *turn) waiting() bool {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.deaf = len(r.heard) == 0
	return !r.deaf
}

// keep puts the answer into the conversation and returns its calls, as they stand there but for their input, which is
// as the model wrote it.
func (r *turn) keep(answer llm.Answer) []llm.Call {
	s := r.session
	r.usage.Input += answer.Usage.Input
	r.usage.Output += answer.Usage.Output
	r.usage.Total = r.usage.Input + r.usage.Output
	r.watch.Saw(r.usage)
	m := mender{words: s.agent.words}
	parts := m.parts(answer.Parts, true)
	var calls []llm.Call
	for _, p := range answer.Parts {
		if c, ok := p.(llm.Call); ok {
			if r.answer+len(calls) == len(r.shown) {
				r.show(c)
			}
			calls = append(calls, llm.Call{ID: r.shown[r.answer+len(calls)].ID, Name: c.Name, Input: c.Input})
		}
	}
	next := 0
	for i, p := range parts {
		if c, ok := p.(llm.Call); ok {
			c.ID = calls[next].ID
			parts[i] = c
			next++
		}
	}
	if len(parts) == 0 {
		parts = append(parts, llm.Text(s.agent.words.NoAnswer))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.talk.add(llm.Message{Role: llm.Assistant, Parts: parts})
	r.said.Reset()
	return calls
}

// drop tells the watcher that the calls of the present answer are not made.
func (r *turn) drop() {
	for i := r.answer; i < len(r.shown); i++ {
		r.mark(i, agent.StatusFailed, "")
	}
	r.answer = len(r.shown)
}

// forget takes the whole exchange out of the conversation.
func (r *turn) forget() {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.session.talk.cut(r.from)
}

// fail ends a turn whose question was not answered. What the provider will never take is forgotten, so that the
// session can go on; work that was done stays known.
func (r *turn) fail(ctx context.Context, err error) (agent.Result, error) {
	r.drop()
	if ctx.Err() != nil {
		return r.result(agent.Cancelled), context.Cause(ctx)
	}
	worked := len(r.session.talk.messages) > r.from+1 || r.said.Len() > 0
	for _, kind := range []llm.ProblemKind{llm.Declined, llm.Rejected, llm.BadImage, llm.Overfull, llm.NoModel} {
		worked = worked && !llm.Is(err, kind)
	}
	if !worked {
		r.forget()
		r.said.Reset()
	}
	return r.result(""), err
}

// settle mends the end of the exchange. It is called under the
// session's lock.
func (r *turn) settle() {
	s := r.session
	r.deaf = true
	if len(s.talk.messages) <= r.from {
		return
	}
	if len(r.heard) > 0 {
		s.talk.tell(r.heard...)
		r.heard = nil
	}
	if text := strings.TrimSpace(strings.ToValidUTF8(r.said.String(), "\uFFFD")); text != "" {
		s.talk.add(llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text(text), llm.Text(s.agent.words.CutOff)}})
	}
	m := mender{words: s.agent.words, ids: newIDs()}
	mended := m.mend(s.talk.messages[r.from:])
	s.talk.cut(r.from)
	for _, said := range mended {
		s.talk.add(said)
	}
}
