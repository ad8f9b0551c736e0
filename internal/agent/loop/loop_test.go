package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/chat"
	"familiar/internal/llm"
	"familiar/internal/tool"
)

type numbered struct {
	N int `json:"n"`
}

// count answers with the number that it got.
func count(run func(context.Context, int) (int, error)) tool.Tool {
	return tool.New(tool.Tool{Name: "count", Doc: "Counts.", Effect: tool.Reads},
		func(ctx context.Context, _ chat.Turn, a numbered) (int, error) { return run(ctx, a.N) })
}

func same(_ context.Context, n int) (int, error) { return n, nil }

func counting(n int) llm.Call { return call("count", fmt.Sprintf(`{"n":%d}`, n)) }

// Whatever a tool does, its call has a result, and the model goes on.
func TestHowCallsEnd(t *testing.T) {
	w := sentences()
	broken := func(context.Context, int) (int, error) { return 0, errors.New("/secret/path: no") }
	panics := func(context.Context, int) (int, error) { panic("oh") }
	hangs := func(ctx context.Context, _ int) (int, error) { <-ctx.Done(); return 0, ctx.Err() }
	refuses := func(context.Context, int) (int, error) { return 0, tool.Fault{Status: 429, Say: "spent"} }
	cases := map[string]struct {
		run    func(context.Context, int) (int, error)
		call   llm.Call
		want   string
		failed bool
	}{
		"well":              {same, counting(7), "7", false},
		"wrong input":       {same, call("count", `{"n":"seven"}`), "integer", true},
		"missing input":     {same, call("count", `{}`), `"n"`, true},
		"input no JSON":     {same, call("count", `{"n":`), "not JSON", true},
		"an unknown tool":   {same, call("functions.count", `{"n":7}`), w.Unknown, true},
		"a refusal":         {refuses, counting(7), "spent", true},
		"a fault of ours":   {broken, counting(7), w.Failed, true},
		"a panic":           {panics, counting(7), w.Failed, true}, // which the box makes a fault of
		"a tool that hangs": {hangs, counting(7), w.TimedOut, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := Defaults()
			if name == "a tool that hangs" {
				cfg.ToolTimeoutMs = 10
			}
			m := steps([]llm.Part{llm.Text("let me see"), c.call})
			r := open(t, cfg, m, Setup{}, count(c.run))
			w := &agenttest.Watch{}
			res, _, err := r.prompt(t.Context(), w, agent.Text("count"))
			if err != nil || res.Stop != agent.EndTurn || res.Usage != (agent.Usage{Input: 20, Output: 2, Total: 22}) {
				t.Fatalf("%+v %v", res, err)
			}
			got := results(t, m)
			if len(got) != 1 || got[0].Failed != c.failed || !strings.Contains(got[0].Text, c.want) {
				t.Errorf("the model read %+v", got)
			}
			if seen, _ := w.Call(plainName(c.call.Name)); (seen.Status == agent.StatusFailed) != c.failed ||
				!c.failed && (seen.Status != agent.StatusCompleted || seen.Kind != agent.KindRead) {
				t.Errorf("the watcher saw %+v", seen)
			}
			if w.Said() != "let me seedone" {
				t.Errorf("it said %q", w.Said())
			}
			r.whole(t)
		})
	}
}

// A tool of another caller that panics, or that heeds no end, is a failed result all the same.
func TestACallerThatMisbehaves(t *testing.T) {
	hold := make(chan struct{})
	cfg := Defaults()
	cfg.ToolTimeoutMs = 5
	cfg.ParallelTools = 1 // the call that is given up leaves its place to the next
	m := steps([]llm.Part{call("bad", `{"do":"hang"}`), call("bad", `{"do":"panic"}`)})
	a := New(cfg, m, Deps{Log: quiet()})
	s, err := a.Open(t.Context(), agent.Opening{Tools: bad{hold}})
	if err != nil {
		t.Fatal(err)
	}
	turn := chat.NewTurn(chat.Talk, chat.Event{}, chat.Owner, when)
	if _, err := s.Prompt(t.Context(), turn, []agent.Block{agent.Text("go")}, &agenttest.Watch{}); err != nil {
		t.Fatal(err)
	}
	got, w := results(t, m), sentences()
	if len(got) != 2 || got[0].Text != w.TimedOut || got[1].Text != w.Panicked {
		t.Errorf("the model read %+v", got)
	}
	close(hold)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

type bad struct{ hold chan struct{} }

func (bad) Session() string { return "sess_1_b" }
func (bad) Tools() []tool.Tool {
	return []tool.Tool{{Name: "bad", Effect: tool.Writes, Params: json.RawMessage(`{"type":"object"}`)}}
}
func (b bad) Call(_ context.Context, _ string, args json.RawMessage) (tool.Result, error) {
	if strings.Contains(string(args), "panic") {
		panic("oh")
	}
	<-b.hold
	return tool.Result{Data: json.RawMessage("1")}, nil
}

// 64 calls of one answer run at once, but no more than may; results stand in the order of the calls.
func TestParallelCalls(t *testing.T) {
	const many = 64
	cfg := Defaults()
	cfg.ParallelTools = 16
	var now, most atomic.Int64
	full := make(chan struct{})
	var once sync.Once
	run := func(ctx context.Context, n int) (int, error) {
		defer now.Add(-1)
		if at := now.Add(1); at == 16 {
			once.Do(func() { close(full) })
		} else if at > 16 {
			most.Store(at)
		}
		select {
		case <-full: // all places are taken at once, or this never ends
			return n, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	var parts []llm.Part
	for i := range many {
		parts = append(parts, llm.Call{ID: "same", Name: "count", Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
	}
	m := steps(parts)
	r := open(t, cfg, m, Setup{}, count(run))
	if _, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("go")); err != nil {
		t.Fatal(err)
	}
	got := results(t, m)
	for i, result := range got {
		if result.Text != fmt.Sprint(i) {
			t.Errorf("result %d is %+v", i, result)
		}
	}
	if len(got) != many || most.Load() != 0 {
		t.Errorf("%d results, %d at once", len(got), most.Load())
	}
}

func TestTooManyCalls(t *testing.T) {
	var parts []llm.Part
	for i := range mostCalls + 2 {
		parts = append(parts, counting(i))
	}
	m := steps(parts)
	r := open(t, Defaults(), m, Setup{}, count(same))
	if _, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("go")); err != nil {
		t.Fatal(err)
	}
	got := results(t, m)
	if len(got) != mostCalls+2 || got[mostCalls-1].Failed || !got[mostCalls].Failed || !got[mostCalls+1].Failed {
		t.Errorf("%d results", len(got))
	}
}

// A thousand steps: the conversation stays within its budget, and whole.
func TestStepBudget(t *testing.T) {
	cfg := Defaults()
	cfg.MaxSteps, cfg.HistoryTokens, cfg.MaxTurnTokens = 1000, 4000, 0
	long := func(_ context.Context, n int) (int, error) { return n, tool.Bad("%s", strings.Repeat("no ", 400)) }
	m := &mind{}
	m.answer = func(_ context.Context, _ llm.Question, saw func(llm.Piece)) (llm.Answer, error) {
		return says(llm.WantsTool, saw, counting(1))
	}
	old := History{Messages: []llm.Message{user(llm.Text(strings.Repeat("old ", 3000))), model(llm.Text("yes"))}}
	r := open(t, cfg, m, Setup{History: old}, count(long))
	res, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("go"))
	if err != nil || res.Stop != agent.MaxTurnRequests {
		t.Fatalf("%+v %v", res, err)
	}
	if n := len(m.questions()); n != 1000 {
		t.Errorf("the model was asked %d times", n)
	}
	h := r.whole(t)
	if first := h.Messages[0].Parts[0]; first != llm.Text("go") {
		t.Error("the oldest exchange is still there")
	}
}

func TestTokenBudget(t *testing.T) {
	cfg := Defaults()
	cfg.MaxTurnTokens = 30
	m := &mind{answer: func(_ context.Context, _ llm.Question, saw func(llm.Piece)) (llm.Answer, error) {
		return says(llm.WantsTool, saw, counting(1))
	}}
	r := open(t, cfg, m, Setup{}, count(same))
	res, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("go"))
	if err != nil || res.Stop != agent.MaxTokens || len(m.questions()) != 3 {
		t.Errorf("%+v %v after %d questions", res, err, len(m.questions()))
	}
	r.whole(t)
}

func TestTimeBudget(t *testing.T) {
	cfg := Defaults()
	cfg.TimeoutMs = 20
	r := open(t, cfg, &mind{answer: obedient}, Setup{}, count(same))
	if _, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text(agenttest.Wait)); !errors.Is(err, chat.ErrTooLong) {
		t.Errorf("%v", err)
	}
	r.whole(t)
}
