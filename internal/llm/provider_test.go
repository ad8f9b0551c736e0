package llm

import (
	"testing"

	"familiar/internal/secret"
)

// Who is named is who gets the key: a provider only at its own address, and else the host.
func TestTheProviderIsWhoeverGetsTheKey(t *testing.T) {
	for _, c := range []struct{ provider, base, want string }{
		{"anthropic", "", "Anthropic"},
		{"anthropic", "https://API.anthropic.com/v1", "Anthropic"},
		{"anthropic", "https://proxy.example.org/v1", "proxy.example.org"},
		{"anthropic", "https://api.anthropic.com.example.org", "api.anthropic.com.example.org"},
		{"openai", "http://127.0.0.1:8080/v1", "127.0.0.1:8080"},
		{"openai", "https://api.openai.com/v1", "OpenAI"},
		{"ollama", "", "Ollama"},
		{"ollama", "http://localhost:9999/v1", "Ollama"},
		{"ollama", "http://192.0.2.7:11434/v1", "192.0.2.7:11434"},
		{compatible, "http://127.0.0.1:8080/v1", "127.0.0.1:8080"},
	} {
		section := Defaults()
		section.Provider, section.BaseURL, section.APIKey, section.Model = c.provider, c.base, secret.New(canary), "m"
		m, err := Open(section, Deps{})
		if err != nil {
			t.Fatal(err)
		}
		if m.Provider() != c.want || section.Title() != c.want {
			t.Errorf("%s at %q is %q, before that %q; want %q", c.provider, c.base, m.Provider(), section.Title(), c.want)
		}
	}
	if title := Defaults().Title(); title != "" {
		t.Errorf("nobody is %q", title)
	}
}
