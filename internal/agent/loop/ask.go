package loop

import (
	"context"

	"familiar/internal/agent"
	"familiar/internal/llm"
)

// ask puts the conversation to the model. A conversation that is too long for it is made shorter, and one with
// pictures that it cannot see, or take, goes without; each once, and only while nothing was seen of an answer.
func (r *turn) ask(ctx context.Context) (llm.Answer, error) {
	s := r.session
	if most := s.agent.cfg.HistoryTokens; s.talk.total > most {
		r.fit(most*3/4, false) // with room for some more, since providers remember what begins as before
	}
	for tried := 0; ; tried++ {
		answer, err := r.once(ctx)
		if err == nil || ctx.Err() != nil || r.said.Len() > 0 || len(r.shown) > r.answer || tried > 2 {
			return answer, err
		}
		switch {
		case llm.Is(err, llm.Overfull):
			if !r.fit(s.talk.total/2, true) {
				return answer, err
			}
		case llm.Is(err, llm.NoModel), llm.Is(err, llm.BadImage):
			if !r.blind() {
				return answer, err
			}
		default:
			return answer, err
		}
	}
}

func (r *turn) blind() bool {
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	return r.session.talk.blind(r.session.agent.words.UnseenImage)
}

// fit makes the conversation weigh at most so much, and reports whether it became shorter. First the oldest exchanges
// go, then the long results of this one.
func (r *turn) fit(most int, last bool) bool {
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.talk.total
	if before <= most {
		return false
	}
	r.from -= s.talk.trim(most, r.from)
	s.talk.squeeze(most, r.from, s.agent.words, last)
	return s.talk.total < before
}

// once asks the model one time, and shows what comes.
func (r *turn) once(ctx context.Context) (llm.Answer, error) {
	s := r.session
	s.mu.Lock()
	model := s.model
	q := llm.Question{System: s.agent.system, Messages: s.talk.messages[:len(s.talk.messages):len(s.talk.messages)],
		Tools: s.tools.offered, MaxTokens: s.agent.cfg.MaxAnswerTokens}
	s.mu.Unlock()
	r.answer = len(r.shown)
	return model.Ask(ctx, q, func(p llm.Piece) {
		if ctx.Err() != nil {
			return
		}
		if p.Thinking != "" {
			r.watch.Saw(agent.Thought{Text: p.Thinking})
		}
		if p.Text != "" {
			r.said.WriteString(p.Text)
			r.watch.Saw(agent.Message{Text: p.Text})
		}
		if p.Call != nil {
			r.show(*p.Call)
		}
	})
}

// show tells the watcher of a call that is to be made.
func (r *turn) show(c llm.Call) {
	s := r.session
	s.mu.Lock()
	id := s.ids.take(c.ID)
	s.mu.Unlock()
	kind := agent.KindOther
	if e, ok := s.tools.entries[c.Name]; ok {
		kind = e.kind
	}
	call := agent.ToolCall{ID: id, Title: plainName(c.Name), Kind: kind, Status: agent.StatusPending, Input: string(c.Input)}
	r.shown = append(r.shown, call)
	r.watch.Saw(call)
}
