package loop

import (
	"context"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/llm"
	"familiar/internal/tool"
)

// deaf is a watcher that looks away.
type deaf struct{}

func (deaf) Saw(agent.Update)                                   {}
func (deaf) Permit(context.Context, agent.Ask) (a agent.Answer) { return a }

// BenchmarkToolCall is what the loop itself costs for each tool call, without the model: from the model's answer to its
// next question, in turns of 100 steps, with one call in an answer and with eight.
func BenchmarkToolCall(b *testing.B) {
	for name, width := range map[string]int{"one": 1, "eight": 8} {
		b.Run(name, func(b *testing.B) {
			var parts []llm.Part
			for range width {
				parts = append(parts, counting(7))
			}
			step := 0
			m := &bare{answer: func(llm.Question) llm.Answer {
				if step++; step%100 == 0 {
					return llm.Answer{Parts: []llm.Part{llm.Text("done")}, Stop: llm.Ended}
				}
				return llm.Answer{Parts: parts, Stop: llm.WantsTool}
			}}
			cfg := Defaults()
			cfg.MaxSteps, cfg.MaxTurnTokens = 1000, 0
			a := New(cfg, m, Deps{Log: quiet()})
			defer a.Close()
			seat := tool.NewBox(nil, count(same)).Seat("sess_1_b", []string{"count"}, func(string) {})
			s, err := a.Open(b.Context(), agent.Opening{Tools: seat})
			if err != nil {
				b.Fatal(err)
			}
			turn := chat.NewTurn(chat.Talk, chat.Event{}, chat.Owner, when)
			seat.Begin(b.Context(), turn)
			defer seat.End()
			b.ReportAllocs()
			for made := 0; made < b.N; made += 99 * width {
				if _, err := s.Prompt(b.Context(), turn, []agent.Block{agent.Text("go")}, deaf{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// bare is a model that costs nothing and streams nothing.
type bare struct {
	answer func(llm.Question) llm.Answer
}

func (*bare) Name() string     { return "bare" }
func (*bare) Provider() string { return "Bare" }
func (m *bare) Ask(_ context.Context, q llm.Question, _ func(llm.Piece)) (llm.Answer, error) {
	return m.answer(q), nil
}
