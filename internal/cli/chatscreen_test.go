package cli

import (
	"strings"
	"testing"
)

func TestWhoThinksIsNamedOnce(t *testing.T) {
	for bot, want := range map[string]string{"Familiar": "Ollama, qwen3", "Mochi": "Familiar, Ollama, qwen3"} {
		var c chatScreen
		c.state.Bot.Name, c.state.Agent.Name, c.state.Agent.Provider, c.state.Agent.Model = bot, "Familiar", "Ollama", "qwen3"
		if got := strings.Join(c.thinker(), ", "); got != want {
			t.Errorf("%s: %s", bot, got)
		}
	}
}
