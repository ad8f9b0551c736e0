package loop

import (
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/llm"
	"familiar/internal/llm/llmtest"
	"familiar/internal/secret"
)

// provider returns a real client of a scripted provider.
func provider(t *testing.T, id string, script llmtest.Script) (llm.Model, *llmtest.Server) {
	t.Helper()
	server := llmtest.Start(t, script)
	cfg := llm.Defaults()
	cfg.Provider, cfg.BaseURL, cfg.Model, cfg.APIKey = id, server.URL(), "stub-1", secret.New("sk-of-a-test")
	m, err := llm.Open(cfg, llm.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	return m, server
}

// Through a real client: wrong input comes back to the model, which mends it; pictures and the history arrive.
func TestThroughAProvider(t *testing.T) {
	for _, id := range []string{"compatible", "anthropic"} {
		t.Run(id, func(t *testing.T) { throughAProvider(t, id) })
	}
}

func throughAProvider(t *testing.T, id string) {
	m, server := provider(t, id, llmtest.Script{APIKey: "sk-of-a-test", Rules: []llmtest.Rule{
		{Name: "wrong", Match: llmtest.Match{LastUser: "count", NotAfter: true, HasTool: "count"},
			Reply: llmtest.Reply{Thinking: "hm", Text: "let me see", ToolCalls: []llmtest.ToolCall{{Name: "count", Arguments: `{"n":"x"}`}}}},
		{Name: "mended", Match: llmtest.Match{ToolResult: "integer"},
			Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: "count", Arguments: `{"n":41}`}, {Name: "count", Arguments: `{"n":42}`}}}},
		{Name: "end", Match: llmtest.Match{ToolResult: "42"}, Reply: llmtest.Reply{Text: "it is {{tool_result}}"}},
		{Name: "picture", Match: llmtest.Match{HasImage: true, AnyText: "it is 42"}, Reply: llmtest.Reply{Text: "a picture"}},
	}})
	r := open(t, Defaults(), m, Setup{}, count(same))
	w := &agenttest.Watch{}
	res, _, err := r.prompt(t.Context(), w, agent.Text("count"))
	if err != nil || res.Stop != agent.EndTurn || w.Said() != "let me seeit is 42" || res.Usage.Input == 0 || res.Usage.Output == 0 {
		t.Fatalf("%+v %v, said %q", res, err, w.Said())
	}
	w = &agenttest.Watch{}
	if _, _, err := r.prompt(t.Context(), w, agent.Text("and this?"), agent.Image{MIME: "image/png", Data: png1x1()}); err != nil || w.Said() != "a picture" {
		t.Errorf("%v, said %q", err, w.Said())
	}
	for _, q := range server.Requests() {
		if !strings.Contains(q.System, "You work in turns") || len(q.Tools) != 1 {
			t.Errorf("%s: system %q, tools %q", q.Rule, q.System, q.Tools)
		}
	}
	r.whole(t)
}

// Through a real client: what a provider refuses is a Problem that says what to do, and the session goes on.
func TestAProviderThatRefuses(t *testing.T) {
	m, server := provider(t, "compatible", llmtest.Script{Default: &llmtest.Reply{Status: 401, Error: "bad key sk-of-a-test"}})
	r := open(t, Defaults(), m, Setup{})
	_, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("go"))
	if !llm.Is(err, llm.BadKey) || strings.Contains(err.Error(), "sk-of") {
		t.Errorf("%v", err)
	}
	server.Play(t, llmtest.Script{Default: &llmtest.Reply{Text: "fine"}})
	w := &agenttest.Watch{}
	if _, _, err := r.prompt(t.Context(), w, agent.Text("again")); err != nil || w.Said() != "fine" {
		t.Errorf("%v, said %q", err, w.Said())
	}
}

// Through a real client: a cut stream and garbage cost the turn, never the session.
func TestABrokenStream(t *testing.T) {
	for name, reply := range map[string]llmtest.Reply{
		"cut":     {Text: strings.Repeat("long words ", 20), CutAfter: 4},
		"garbage": {Text: strings.Repeat("long words ", 20), Garbage: true},
	} {
		t.Run(name, func(t *testing.T) {
			m, server := provider(t, "compatible", llmtest.Script{Default: &reply})
			r := open(t, Defaults(), m, Setup{})
			res, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("go"))
			if err == nil && res.Stop != agent.EndTurn || err != nil && !llm.Is(err, llm.Broken) {
				t.Errorf("%+v %v", res, err)
			}
			server.Play(t, llmtest.Script{Default: &llmtest.Reply{Text: "fine"}})
			if _, _, err := r.prompt(t.Context(), &agenttest.Watch{}, agent.Text("again")); err != nil {
				t.Error(err)
			}
			r.whole(t)
		})
	}
}
