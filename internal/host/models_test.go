package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/llm"
	"familiar/internal/llm/llmtest"
	"familiar/internal/router"
)

// modelled remembers the model of every session.
type modelled struct {
	agent.Agent
	mu     sync.Mutex
	models []string
}

func (m *modelled) Open(ctx context.Context, o agent.Opening) (agent.Session, error) {
	m.mu.Lock()
	m.models = append(m.models, o.Model)
	m.mu.Unlock()
	return m.Agent.Open(ctx, o)
}

func TestARuleChoosesTheModelOfASession(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) {
		c.Agent.Model = "general"
		c.Audit.Enabled, c.Audit.IncludedPhases = true, nil
		c.Agent.ModelRouting = router.Config{Enabled: true, Rules: []router.Rule{
			{Match: router.Match{ContentKeywords: router.Keywords{"Code"}}, Model: "coder"}}}
	}, reply("hi"))
	heard := &modelled{Agent: r.agent.Agent}
	r.agent.Agent = heard
	r.hears(event("dm1", "ann", "show me some CODE"), chat.Accepted)
	r.says("dm1: hi")
	r.hears(event("dm1", "ann", "thanks"), chat.Accepted)
	r.until("both were answered", func() bool { return len(r.net.said()) == 2 && r.rooms.Load().Running == 0 })
	if got := strings.Join(heard.models, " "); got != "coder general" {
		t.Errorf("models %q", got)
	}
	if records := r.records(); !strings.Contains(records, `"model":"coder"`) || !strings.Contains(records, `"modelId":"general"`) {
		t.Errorf("the audit says %s", records)
	}
}

// AF-43: without a rule it is the model of the feature, and else that of the agent.
func TestAFeatureHasItsOwnModel(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) {
		c.Agent.Model, c.Companion.SelfResearch.Model, c.Companion.MemoryMaintenance.Model = "general", "reader", "tidier"
		c.Agent.ModelRouting.Rules = []router.Rule{{Match: router.Match{SessionType: "self-research"}, Model: "ruled"}} // and off
	})
	for kind, want := range map[chat.SessionType]string{chat.ResearchSession: "reader", chat.UpkeepSession: "tidier",
		chat.MessageSession: "general", chat.SpontaneousSession: "general"} {
		if got := r.model(kind, event("dm1", "ann", "")); got != want {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

// records is everything that the audit files say.
func (r *rig) records() string {
	r.t.Helper()
	var all strings.Builder
	files, err := filepath.Glob(filepath.Join(r.Instance.Dir, "data", "audit", "*", "*", "*.jsonl"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			r.t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// The built-in agent asks the model that a rule names, of the same provider.
func TestARuleChoosesTheModelOfTheBuiltInAgent(t *testing.T) {
	server := llmtest.Start(t, llmtest.Script{Rules: []llmtest.Rule{
		{Match: llmtest.Match{NotAfter: true}, Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: "send-reply", Arguments: `{"message":"hi"}`}}}},
		{Match: llmtest.Match{AfterTool: "send-reply"}, Reply: llmtest.Reply{Text: "done"}},
	}})
	r := live(t, dir(t), func(c *config.Config) {
		c.Agent.Kind = "builtin"
		c.LLM.Provider, c.LLM.BaseURL, c.LLM.Model = "compatible", server.URL(), "stub-1"
		c.Agent.ModelRouting = router.Config{Enabled: true, Rules: []router.Rule{
			{Match: router.Match{ContentKeywords: router.Keywords{"code"}}, Model: "stub-coder"}}}
	})
	r.agent.Agent = r.openBuiltin()
	for n, text := range []string{"some code, please", "thank you"} {
		r.hears(event("dm1", "ann", text), chat.Accepted)
		r.until("it answers", func() bool { return len(r.net.said()) == n+1 && r.rooms.Load().Running == 0 })
	}
	var models []string
	for _, asked := range server.Requests() {
		models = append(models, asked.Model)
	}
	if got := strings.Join(slices.Compact(models), " "); got != "stub-coder stub-1" {
		t.Errorf("asked %q", got)
	}
}

// AF-193: the whole way of a message, and no agent.
func TestADryRunStartsNoAgent(t *testing.T) {
	for language, answer := range map[string]string{"en": "(dry run: this is a test reply)", "zh-TW": "（Dry run 模式 — 此為測試回覆）"} {
		r := live(t, dir(t), func(c *config.Config) {
			c.Bot.Language, c.Agent.DryRun.Enabled, c.Agent.Model = language, true, "opus"
		}, script.Turn{Steps: []script.Step{{Fail: "an agent was asked"}}})
		r.hears(event("dm1", "ann", "are you there?"), chat.Accepted)
		r.says("dm1: " + answer)
		if r.agent.prompt(0) != "" || r.external != nil || r.own != nil {
			t.Error("there is an agent")
		}
		files, err := filepath.Glob(filepath.Join(r.Instance.Dir, "data", "dry-run", "*"))
		name := regexp.MustCompile(`/message_\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[0-9a-f]{8}\.md$`)
		if err != nil || len(files) != 1 || !name.MatchString(files[0]) {
			t.Fatalf("files %q, %v", files, err)
		}
		prompt, err := os.ReadFile(files[0])
		if err != nil || !strings.Contains(string(prompt), "are you there?") || !strings.Contains(string(prompt), "send-reply") {
			t.Errorf("the prompt is %q, %v", prompt, err)
		}
		if who := r.mind(); !who.Ready || who.Name == r.agent.Name() || who.Model != "opus" {
			t.Errorf("the page says %+v", who)
		}
	}
}

func TestADryRunThatAnswersNothingIsASuccess(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) { c.Agent.DryRun.Enabled, c.Agent.DryRun.MockReply = true, "" })
	r.hears(event("dm1", "ann", "are you there?"), chat.Accepted)
	r.until("the turn is over", func() bool { return strings.Contains(r.log.String(), "msg=turn ") })
	if said := r.net.said(); len(said) != 0 || strings.Contains(r.log.String(), "level=ERROR") {
		t.Errorf("said %q\n%s", said, r.log)
	}
}

// A model that is not the section's own is opened once: what it knows of its provider's trouble is kept.
func TestANamedModelIsOpenedOnce(t *testing.T) {
	opened := 0
	n := namedModels{open: func(name string) (llm.Model, error) {
		if opened++; name == "" {
			return nil, errors.New("no name")
		}
		return llm.Open(llm.Config{Provider: "ollama", Model: name}, llm.Deps{})
	}}
	for _, name := range []string{"a", "b", "a", "b"} {
		if m, err := n.named(name); err != nil || m.Name() != name {
			t.Fatal(m, err)
		}
	}
	if _, err := n.named(""); err == nil || opened != 3 {
		t.Errorf("opened %d, %v", opened, err)
	}
}
