package loop

import (
	"context"
	"errors"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/llm"
	"familiar/internal/tool"
)

// Words for the running turn stand in front of the next request, after the results; when the turn would have ended it
// goes on; when none runs they are not taken.
func TestSteer(t *testing.T) {
	var r *rig
	steer := func(text string) {
		if err := r.Steer(text); err != nil {
			t.Error(err)
		}
	}
	asked := 0
	m := &mind{answer: func(_ context.Context, q llm.Question, saw func(llm.Piece)) (llm.Answer, error) {
		last := q.Messages[len(q.Messages)-1]
		asked++
		switch asked {
		case 1:
			return says(llm.WantsTool, saw, counting(1))
		case 2:
			if !holdsResults(last) || last.Parts[len(last.Parts)-1] != llm.Text("in the tool") {
				t.Errorf("the second request ends with %+v", last)
			}
			steer("at the end")
			return says(llm.Ended, saw, llm.Text("over"))
		case 3:
			if len(last.Parts) != 1 || last.Parts[0] != llm.Text("at the end") {
				t.Errorf("the third request ends with %+v", last)
			}
		}
		return says(llm.Ended, saw, llm.Text("now it is over"))
	}}
	r = open(t, Defaults(), m, Setup{}, count(func(context.Context, int) (int, error) { steer("in the tool"); return 1, nil }))
	if !r.Can().Steer {
		t.Error("it does not say that it can be steered")
	}
	var _ agent.Steerer = r.Session
	if err := r.Steer("too early"); !errors.Is(err, agent.ErrNoTurn) {
		t.Errorf("before the turn: %v", err)
	}
	if _, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("go")); err != nil || asked != 3 {
		t.Errorf("%v after %d requests", err, asked)
	}
	if err := r.Steer("too late"); !errors.Is(err, agent.ErrNoTurn) {
		t.Errorf("after the turn: %v", err)
	}
	if text := wordsOf(r.whole(t).Messages); strings.Contains(text, "too early") || strings.Contains(text, "too late") {
		t.Error("words that were refused are known")
	}
}

// Words that the turn could not heed any more, because it was stopped, are known to the next.
func TestWordsOfAStoppedTurnAreKept(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	m := &mind{answer: obedient}
	r := open(t, Defaults(), m, Setup{})
	w := &agenttest.Watch{Each: func(agent.Update) {
		if err := r.Steer("not like that"); err != nil {
			t.Error(err)
		}
		stop(errStop)
	}}
	if _, _, err := r.prompt(ctx, w, agent.Text(agenttest.Wait)); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	if text := wordsOf(r.whole(t).Messages); !strings.Contains(text, "not like that") {
		t.Errorf("what is known: %q", text)
	}
}

// A stop ends the calls of the turn with it, and each has a result all the same.
func TestAStopEndsTheCalls(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	ended := make(chan struct{})
	m := steps([]llm.Part{counting(1)})
	r := open(t, Defaults(), m, Setup{}, count(func(ctx context.Context, _ int) (int, error) {
		stop(errStop)
		<-ctx.Done()
		close(ended)
		return 0, ctx.Err()
	}))
	res, _, err := r.prompt(ctx, &agenttest.Watch{}, agent.Text("go"))
	if !errors.Is(err, errStop) || res.Stop != agent.Cancelled {
		t.Errorf("%+v %v", res, err)
	}
	<-ended
	h := r.whole(t)
	if result, ok := h.Messages[2].Parts[0].(llm.Result); !ok || !result.Failed || result.Text != sentences().TurnEnded {
		t.Errorf("%+v", h.Messages)
	}
}

// A model may be given a way to show its plan.
func TestPlan(t *testing.T) {
	m := steps([]llm.Part{call(planTool, `{"steps":["a","b"]}`), llm.Call{ID: "2", Name: planTool, Input: []byte(`{}`)}})
	r := open(t, Defaults(), m, Setup{Plan: true})
	w := &agenttest.Watch{}
	if _, _, err := r.prompt(t.Context(), w, agent.Text("go")); err != nil {
		t.Fatal(err)
	}
	plans := 0
	for _, u := range w.Updates() {
		if p, ok := u.(agent.Plan); ok {
			plans++
			if strings.Join(p.Steps, ",") != "a,b" {
				t.Errorf("%+v", p)
			}
		}
	}
	if got := results(t, m); plans != 1 || got[0].Failed || !got[1].Failed {
		t.Errorf("%d plans, results %+v", plans, got)
	}
}

// Tools of ours ask only where the opening says so; a yes for always is asked for once.
func TestOurToolsAskWhereTheyShould(t *testing.T) {
	for _, kind := range []agent.OptionKind{agent.AllowAlways, agent.AllowOnce, agent.RejectOnce, ""} {
		t.Run(string(kind), func(t *testing.T) {
			m := steps([]llm.Part{counting(1), counting(2)}, []llm.Part{counting(3)})
			r := open(t, Defaults(), m, Setup{Asks: func(t tool.Tool) bool { return t.Name == "count" }}, count(same))
			w := &agenttest.Watch{Answer: func(_ context.Context, ask agent.Ask) agent.Answer {
				for _, o := range ask.Options {
					if o.Kind == kind {
						return agent.Answer{Option: o.ID}
					}
				}
				return agent.Answer{}
			}}
			if _, _, err := r.prompt(t.Context(), w, agent.Text("go")); err != nil {
				t.Fatal(err)
			}
			want := map[agent.OptionKind]int{agent.AllowAlways: 1}[kind]
			if want == 0 {
				want = 3
			}
			if asks := w.Asks(); len(asks) != want || string(asks[0].RawInput) != `{"n":1}` || asks[0].Title != "count" {
				t.Errorf("asked %d times, want %d", len(asks), want)
			}
			if got := results(t, m); len(got) != 1 || got[0].Failed != (kind == agent.RejectOnce || kind == "") {
				t.Errorf("%+v", got)
			}
		})
	}
}
