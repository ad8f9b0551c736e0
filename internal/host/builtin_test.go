package host

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/llm"
	"familiar/internal/llm/llmtest"
	"familiar/internal/secret"
)

// A bot whose only mind is a model: the model is found, named, and answers with the tools of the bot.
func TestTheBuiltInAgentAnswers(t *testing.T) {
	server := llmtest.Start(t, llmtest.Script{APIKey: "sk-of-a-test", Rules: []llmtest.Rule{
		{Match: llmtest.Match{HasTool: "send-reply", NotAfter: true, AnyText: "what is your name"},
			Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: "send-reply", Arguments: `{"message":"Familiar, they say."}`}}}},
		{Match: llmtest.Match{AfterTool: "send-reply"}, Reply: llmtest.Reply{Text: "done"}},
	}})
	r := live(t, dir(t), func(c *config.Config) {
		c.Agent.Kind = "builtin"
		c.LLM.Provider, c.LLM.BaseURL, c.LLM.APIKey = "compatible", server.URL(), secret.New("sk-of-a-test")
	})
	own := r.openBuiltin()
	if _, model, ok := own.who(); !ok || model != "" {
		t.Errorf("before it was asked: model %q, %v", model, ok)
	}
	r.agent.Agent = own
	page := &Host{own: own, agent: own, phrases: r.phrases}
	page.meet(t.Context())
	if who := page.mind(); !who.Ready || who.Name != ourAgent || who.Model != "stub-1" || who.Provider == "" {
		t.Errorf("who thinks: %+v", who)
	}
	r.hears(event("dm1", "ann", "what is your name?"), chat.Accepted)
	r.until("it answers", func() bool { return len(r.net.said()) == 1 })
	if said := r.net.said()[0]; said != "dm1: Familiar, they say." {
		t.Errorf("it said %q", said)
	}
	if strings.Contains(r.log.String(), "sk-of-a-test") || strings.Contains(r.log.String(), "they say") {
		t.Error("the log has what it must not have")
	}
}

// A provider that does not say which models it has is told as one that is silent, with a step that helps.
func TestAProviderThatListsNothingIsSilent(t *testing.T) {
	mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(mute.Close)
	r := live(t, dir(t), func(c *config.Config) {
		c.Agent.Kind, c.Agent.ConnectTimeoutMs = "builtin", 2000
		c.LLM.Provider, c.LLM.BaseURL = "compatible", mute.URL
	})
	if _, err := r.openBuiltin().find(t.Context()); !llm.Is(err, llm.Silent) {
		t.Errorf("error %v", err)
	}
}
