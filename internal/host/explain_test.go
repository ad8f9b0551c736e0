package host

import (
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/explanation"
	"familiar/internal/gate"
	"familiar/internal/instance"
	"familiar/internal/router"
	"familiar/internal/secret"
)

// Where our own agent thinks, the model is the one that it would take, as far as that is known without the network.
func TestExplainTheModelOfOurOwnAgent(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"} {
		t.Setenv(name, "")
	}
	t.Setenv("PATH", t.TempDir()) // with no agent on it
	inst, err := instance.Find(dir(t), "")
	if err != nil {
		t.Fatal(err)
	}
	owner := event("dm1", "owner", "hi")
	owner.Place.Platform, owner.From.Platform = "web", "web"
	for name, c := range map[string]struct {
		set        func(*config.Config)
		model, why string
	}{
		"named":                {func(c *config.Config) { c.Agent.Kind, c.LLM.Model = "builtin", "qwen3" }, "qwen3", "llm.model"},
		"by default":           {func(c *config.Config) { c.LLM.Model = "qwen3" }, "qwen3", "llm.model"},
		"named for all agents": {func(c *config.Config) { c.Agent.Model, c.LLM.Model = "big", "qwen3" }, "big", "agent.model"},
		"of a provider":        {func(c *config.Config) { c.Agent.AnthropicAPIKey = secret.New("key") }, "", "one that Anthropic lists"},
		"nobody":               {func(*config.Config) {}, "", "no key of a provider"},
		"another agent":        {func(c *config.Config) { c.Agent.Command, c.LLM.Model = "/opt/agent", "qwen3" }, "", "the agent's own choice"},
	} {
		cfg := config.Defaults()
		c.set(&cfg)
		e, err := Explain(t.Context(), inst, config.Loaded{Config: cfg}, owner)
		if err != nil || e.Then == nil || e.Then.Model != c.model || !strings.Contains(e.Then.ModelWhy, c.why) {
			t.Errorf("%s: %+v, %v", name, e.Then, err)
		}
	}
}

// What is explained is what the bot does, while it runs and when it has ended.
func TestExplain(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) {
		c.Access.ReplyPolicy = gate.ReplyChannels
		c.Access.Pairing = true
		c.Agent.Model = "general"
		c.Agent.ModelRouting = router.Config{Enabled: true, Rules: []router.Rule{
			{Match: router.Match{SessionType: "message", ContentKeywords: router.Keywords{"code"}}, Model: "coder"}}}
	}, reply("hi"))
	r.Loaded.Config = r.cfg
	stranger := event("dm1", "ann", "some code, please")
	explain := func() explanation.Explanation {
		t.Helper()
		e, err := Explain(t.Context(), r.Instance, r.Loaded, stranger)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := explain(); e.Outcome != "refused" || e.Rule != "policy" || e.Then != nil {
		t.Errorf("a stranger: %+v", e)
	}
	code, err := r.people.Offer(t.Context(), stranger.From, stranger.Place)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.people.Admit(t.Context(), code, chat.Person{Platform: "web", ID: "owner"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e := explain()
		if e.Outcome != "accepted" || e.Rule != "admitted" || e.Then == nil {
			t.Fatalf("somebody admitted: %+v", e)
		}
		if e.Then.Model != "coder" || e.Then.SessionType != "message" || e.Then.Command != "" || e.Then.Room == "" {
			t.Errorf("then %+v", e.Then)
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
	}
	owner := event("dm1", "owner", "/status")
	owner.Place.Platform, owner.From.Platform = "web", "web"
	e, err := Explain(t.Context(), r.Instance, r.Loaded, owner)
	if err != nil || e.Then == nil || e.Then.Command != "/status" || e.Then.Trust != "owner" || e.Then.Model != "" {
		t.Errorf("a command: %+v, %v", e.Then, err)
	}
	recalled := event("lounge", "owner", "")
	recalled.From.Platform, recalled.Body = "web", chat.Recalled{Of: "m"}
	if e, err = Explain(t.Context(), r.Instance, r.Loaded, recalled); err != nil || e.Then == nil || e.Then.SessionType != "" {
		t.Errorf("a recall: %+v, %v", e.Then, err)
	}
}
