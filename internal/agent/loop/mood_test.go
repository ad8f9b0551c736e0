package loop

import (
	"context"
	"slices"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/llm"
	"familiar/internal/tool"
)

// What a model does to a turn, in every mood, never costs the session: the next turn goes well.
func TestMoods(t *testing.T) {
	fails := func(kind llm.ProblemKind) func(func(llm.Piece)) (llm.Answer, error) {
		return func(func(llm.Piece)) (llm.Answer, error) { return llm.Answer{}, llm.Problem{Kind: kind, Say: "no"} }
	}
	cases := map[string]struct {
		answer func(saw func(llm.Piece)) (llm.Answer, error)
		stop   agent.StopReason
		kind   llm.ProblemKind
		kept   bool // the exchange is still known
	}{
		"key":       {fails(llm.BadKey), "", llm.BadKey, false},
		"model":     {fails(llm.NoModel), "", llm.NoModel, false},
		"credit":    {fails(llm.NoCredit), "", llm.NoCredit, false},
		"too long":  {fails(llm.Overfull), "", llm.Overfull, false},
		"declined":  {fails(llm.Declined), "", llm.Declined, false},
		"rejected":  {fails(llm.Rejected), "", llm.Rejected, false},
		"image":     {fails(llm.BadImage), "", llm.BadImage, false},
		"busy":      {fails(llm.Overloaded), "", llm.Overloaded, false},
		"silent":    {fails(llm.Silent), "", llm.Silent, false},
		"unreached": {fails(llm.Unreached), "", llm.Unreached, false},
		"cut in its words": {func(saw func(llm.Piece)) (llm.Answer, error) {
			saw(llm.Piece{Text: "I was just"})
			return llm.Answer{}, llm.Problem{Kind: llm.Broken, Say: "cut"}
		}, "", llm.Broken, true},
		"cut in its calls": {func(saw func(llm.Piece)) (llm.Answer, error) {
			c := counting(1)
			saw(llm.Piece{Text: "wait", Call: &c})
			return llm.Answer{}, llm.Problem{Kind: llm.Broken, Say: "cut"}
		}, "", llm.Broken, true},
		"refuses": {func(saw func(llm.Piece)) (llm.Answer, error) { return says(llm.Refused, saw, llm.Text("I won't")) },
			agent.Refusal, "", false},
		"runs out in its words": {func(saw func(llm.Piece)) (llm.Answer, error) { return says(llm.TooLong, saw, llm.Text("so")) },
			agent.MaxTokens, "", true},
		"runs out in a call": {func(saw func(llm.Piece)) (llm.Answer, error) {
			return says(llm.TooLong, saw, llm.Text("so"), call("count", `{"n":`))
		}, agent.MaxTokens, "", true},
		"says nothing": {func(saw func(llm.Piece)) (llm.Answer, error) { return says(llm.Ended, saw) }, agent.EndTurn, "", true},
		"only thinks":  {func(saw func(llm.Piece)) (llm.Answer, error) { return says(llm.Ended, saw, llm.Thinking{Text: "hm"}) }, agent.EndTurn, "", true},
		"says what is none": {func(saw func(llm.Piece)) (llm.Answer, error) {
			return says(llm.Ended, saw, llm.Text("\xed\xa0\x80"), llm.Text(" "))
		}, agent.EndTurn, "", true},
	}
	for name, c := range cases {
		for _, late := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", after a call"}[late], func(t *testing.T) {
				asked := 0
				m := &mind{answer: func(_ context.Context, q llm.Question, saw func(llm.Piece)) (llm.Answer, error) {
					asked++
					switch {
					case strings.Contains(wordsOf(q.Messages), "second"):
						return says(llm.Ended, saw, llm.Text("fine"))
					case late && asked == 1:
						return says(llm.WantsTool, saw, counting(7))
					}
					return c.answer(saw)
				}}
				r := open(t, Defaults(), m, Setup{}, count(same))
				w := &agenttest.Watch{}
				res, _, err := r.prompt(t.Context(), w, agent.Text("first"))
				if res.Stop != c.stop || c.kind == "" && err != nil || c.kind != "" && !llm.Is(err, c.kind) {
					t.Fatalf("%+v %v", res, err)
				}
				for _, u := range w.Updates() {
					if u, ok := u.(agent.ToolCall); ok {
						if last, _ := w.Call(u.ID); last.Status != agent.StatusFailed && last.Status != agent.StatusCompleted {
							t.Errorf("a call is left %s", last.Status)
						}
					}
				}
				kept := c.kept || late && !slices.Contains([]llm.ProblemKind{llm.Declined, llm.Rejected, llm.BadImage, llm.Overfull, llm.NoModel}, c.kind) &&
					c.stop != agent.Refusal
				if known := strings.Contains(wordsOf(r.whole(t).Messages), "first"); known != kept {
					t.Errorf("what was said is known: %v, want %v", known, kept)
				}
				if res, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("second")); err != nil || res.Stop != agent.EndTurn {
					t.Errorf("the next turn: %+v %v", res, err)
				}
				r.whole(t)
			})
		}
	}
}

// wordsOf returns all text of a conversation.
func wordsOf(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				b.WriteString(string(p) + "\n")
			case llm.Result:
				b.WriteString(p.Text + "\n")
			}
		}
	}
	return b.String()
}

// A conversation that is too long for the model loses its oldest exchanges, and then the length of its results.
func TestTooLongForTheModel(t *testing.T) {
	const room = 1500
	m := &mind{answer: func(_ context.Context, q llm.Question, saw func(llm.Piece)) (llm.Answer, error) {
		switch text := wordsOf(q.Messages); {
		case len(text) > room:
			return llm.Answer{}, llm.Problem{Kind: llm.Overfull, Say: "too long"}
		case !strings.Contains(text, sentences().Squeezed):
			return says(llm.WantsTool, saw, counting(1))
		}
		return says(llm.Ended, saw, llm.Text("at last"))
	}}
	long := func(context.Context, int) (int, error) { return 0, tool.Bad("%s", strings.Repeat("no ", 700)) }
	history := History{Messages: []llm.Message{user(llm.Text(strings.Repeat("old ", 500))), model(llm.Text("yes"))}}
	r := open(t, Defaults(), m, Setup{History: history}, count(long))
	res, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("go"))
	if err != nil || res.Stop != agent.EndTurn {
		t.Fatalf("%+v %v", res, err)
	}
	if text := wordsOf(r.whole(t).Messages); strings.Contains(text, "old") || !strings.Contains(text, "go") {
		t.Error("the wrong exchange went")
	}
}

// A model that sees no pictures gets words in their place.
func TestAModelWithoutEyes(t *testing.T) {
	m := &mind{answer: func(_ context.Context, q llm.Question, saw func(llm.Piece)) (llm.Answer, error) {
		for _, said := range q.Messages {
			for _, p := range said.Parts {
				if _, ok := p.(llm.Image); ok {
					return llm.Answer{}, llm.Problem{Kind: llm.NoModel, Say: "no images"}
				}
			}
		}
		return says(llm.Ended, saw, llm.Text("I see nothing"))
	}}
	r := open(t, Defaults(), m, Setup{})
	res, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("look"), agent.Image{MIME: "image/png", Data: png1x1()})
	if err != nil || res.Stop != agent.EndTurn || len(m.questions()) != 2 {
		t.Errorf("%+v %v", res, err)
	}
}

// Pictures that are none never reach the model, and those of another kind than was said are called what they are.
func TestPicturesAreLookedAt(t *testing.T) {
	m := steps()
	r := open(t, Defaults(), m, Setup{})
	_, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Image{MIME: "image/png", Data: []byte("none")},
		agent.Image{MIME: "image/webp", Data: png1x1()})
	if err != nil {
		t.Fatal(err)
	}
	parts := m.questions()[0].Messages[0].Parts
	if image, ok := parts[1].(llm.Image); len(parts) != 2 || parts[0] != llm.Text(sentences().LostImage) || !ok || image.MIME != "image/png" {
		t.Errorf("the model saw %+v", parts)
	}
}
