package agenttest

import (
	"context"
	"strings"
	"sync"

	"familiar/internal/agent"
)

// Watch is a Watcher that keeps everything that it saw. Answer decides about permission; nil refuses. Safe for
// concurrent use.
type Watch struct {
	Answer func(ctx context.Context, ask agent.Ask) agent.Answer
	Each   func(agent.Update) // is called for every update after it was kept; may be nil

	mu   sync.Mutex
	saw  []agent.Update
	asks []agent.Ask
}

// Saw keeps the update.
func (w *Watch) Saw(u agent.Update) {
	w.mu.Lock()
	w.saw = append(w.saw, u)
	w.mu.Unlock()
	if w.Each != nil {
		w.Each(u)
	}
}

// Permit keeps the ask and answers it.
func (w *Watch) Permit(ctx context.Context, ask agent.Ask) agent.Answer {
	w.mu.Lock()
	w.asks = append(w.asks, ask)
	w.mu.Unlock()
	if w.Answer == nil {
		return ask.Choose(false)
	}
	return w.Answer(ctx, ask)
}

// Allow answers every ask by its one-time yes.
func Allow(_ context.Context, ask agent.Ask) agent.Answer { return ask.Choose(true) }

// Updates returns what was seen so far.
func (w *Watch) Updates() []agent.Update {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]agent.Update(nil), w.saw...)
}

// Asks returns what was asked so far.
func (w *Watch) Asks() []agent.Ask {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]agent.Ask(nil), w.asks...)
}

// Said returns the agent's own words, joined.
func (w *Watch) Said() string {
	var b strings.Builder
	for _, u := range w.Updates() {
		if m, ok := u.(agent.Message); ok {
			b.WriteString(m.Text)
		}
	}
	return b.String()
}

// Call returns the last state of the tool call with that title or id.
func (w *Watch) Call(name string) (agent.ToolCall, bool) {
	var found agent.ToolCall
	ok := false
	for _, u := range w.Updates() {
		if c, is := u.(agent.ToolCall); is && (c.Title == name || c.ID == name || ok && c.ID == found.ID) {
			if c.Title == "" {
				c.Title = found.Title
			}
			found, ok = c, true
		}
	}
	return found, ok
}
