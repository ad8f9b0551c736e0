package llm

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"familiar/internal/llm/llmtest"
	"familiar/internal/secret"
)

func TestDiscoverKeepsTheOrder(t *testing.T) {
	environ := []string{"GEMINI_API_KEY=g-key", "OPENROUTER_API_KEY=r-key", "OPENAI_API_KEY=o-key", "ANTHROPIC_API_KEY=a-key", "OTHER=x"}
	var got []string
	for _, c := range Discover(environ) {
		got = append(got, c.Provider+" "+c.Key.Reveal()+" "+c.From)
	}
	want := []string{"anthropic a-key ANTHROPIC_API_KEY", "openai o-key OPENAI_API_KEY", "openrouter r-key OPENROUTER_API_KEY", "gemini g-key GEMINI_API_KEY"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %q", got)
	}
	if found := Discover([]string{"ANTHROPIC_API_KEY=", "OPENAI_API_KEY= ", "OPENAI_API_KEY_2=x", "GEMINI_API_KEY"}); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	c := Defaults()
	c.Model = "chosen"
	m, err := Open(c, Deps{Environ: environ[:3], HTTP: carrier(t)})
	if err != nil || m.Provider() != "OpenAI" || m.Name() != "chosen" {
		t.Errorf("opened %v, %v", m, err)
	}
}

// Each provider's own address takes the key of nobody but that provider, over https.
func TestProviders(t *testing.T) {
	for _, p := range providers {
		if p.id == compatible {
			continue
		}
		if p.title == "" || !p.isLocal && (!strings.HasPrefix(p.base, "https://") || p.env == "") || p.isLocal && !strings.HasPrefix(p.base, "http://127.0.0.1:11434/") {
			t.Errorf("%+v", p)
		}
	}
}

func TestPick(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		listed := map[string][]string{"anthropic": {"claude-haiku-4-5-20251001", "claude-sonnet-4-5-20250929", "claude-opus-4-1"}, "openai": {"whisper-1", "gpt-4o-mini", "gpt-5", "gpt-5-pro"}}[provider]
		want := map[string]string{"anthropic": "claude-sonnet-4-5-20250929", "openai": "gpt-5"}[provider]
		s := llmtest.Start(t, llmtest.Script{Models: listed, APIKey: canary})
		c := Defaults()
		c.Provider, c.BaseURL, c.APIKey = provider, s.URL(), secret.New(canary)
		d := Deps{HTTP: carrier(t)}
		if names, err := Models(t.Context(), c, d); err != nil || !reflect.DeepEqual(names, listed) {
			t.Errorf("models %v, %v", names, err)
		}
		picked, err := Pick(t.Context(), c, d)
		if err != nil || picked.Model != want {
			t.Errorf("picked %q, %v", picked.Model, err)
		}
		c.Model = "named"
		if picked, err = Pick(t.Context(), c, d); err != nil || picked.Model != "named" {
			t.Errorf("picked %q, %v", picked.Model, err)
		}
		s.Play(t, llmtest.Script{Models: []string{"unheard-of"}})
		c.Model = ""
		if _, err = Pick(t.Context(), c, d); !Is(err, NoModel) || !strings.Contains(err.Error(), "agent.model") {
			t.Errorf("error %v", err)
		}
		s.Play(t, llmtest.Script{APIKey: "another"})
		_, err = Pick(t.Context(), c, d)
		wantProblem(t, err, BadKey)
		for _, q := range s.Listings() {
			if strings.Contains(q.Query, "canary") {
				t.Errorf("asked %+v", q)
			}
		}
	})
}

func TestPrefer(t *testing.T) {
	for _, c := range []struct {
		provider string
		listed   []string
		want     string
	}{
		{"ollama", []string{"nomic", "qwen3:8b", "qwen3:4b"}, "qwen3:8b"}, {"ollama", []string{"my/own:latest"}, "my/own:latest"},
		{"openrouter", []string{"x/y", "google/gemini-3.5-flash", "openrouter/auto"}, "google/gemini-3.5-flash"},
		{"gemini", []string{"gemini-2.5-pro", "gemini-2.5-flash"}, "gemini-2.5-flash"},
		{"anthropic", nil, ""}, {compatible, []string{"x"}, ""}, {"openai", []string{"claude-sonnet-5"}, ""},
	} {
		if got, ok := Prefer(c.provider, c.listed); got != c.want || ok != (c.want != "") {
			t.Errorf("%s %v: %q", c.provider, c.listed, got)
		}
	}
}

func TestOnlyModelOfACompatibleServer(t *testing.T) {
	s := llmtest.Start(t, llmtest.Script{Models: []string{"models/only"}, Default: &llmtest.Reply{Text: "x"}})
	c := Defaults()
	c.Provider, c.BaseURL = compatible, s.URL()
	picked, err := Pick(t.Context(), c, Deps{HTTP: carrier(t)})
	if err != nil || picked.Model != "only" {
		t.Errorf("picked %q, %v", picked.Model, err)
	}
	m, err := Open(picked, Deps{HTTP: carrier(t)})
	if err != nil || !strings.HasPrefix(m.Provider(), "127.0.0.1:") {
		t.Fatalf("%v, %v", m, err)
	}
	if _, err := m.Ask(t.Context(), say("x"), nil); err != nil || s.Requests()[0].Keyed {
		t.Errorf("error %v, asked %+v", err, s.Requests())
	}
}

func TestProbe(t *testing.T) {
	s := llmtest.Start(t, llmtest.Script{})
	d := Deps{HTTP: carrier(t)}
	c, ok := Probe(t.Context(), s.URL(), d)
	if !ok || c.Provider != "ollama" || c.Fill(Config{SilenceMs: 3}).BaseURL != s.URL() {
		t.Errorf("found %v, %+v", ok, c)
	}
	// One that takes the connection and says nothing is not waited for.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, ok := Probe(t.Context(), "http://"+l.Addr().String()+"/v1", d); ok {
		t.Error("found one that says nothing")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := Probe(ctx, s.URL(), d); ok {
		t.Error("found one although nobody waits")
	}
}

func TestListsOfModelsAreBounded(t *testing.T) {
	long := `{"data":[` + strings.Repeat(`{"id":"x"},`, maxList/11) + `{"id":"y"}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, long)
	}))
	t.Cleanup(s.Close)
	c := Defaults()
	c.Provider, c.BaseURL = compatible, s.URL
	names, err := Models(t.Context(), c, Deps{HTTP: carrier(t)})
	if !Is(err, Broken) {
		t.Errorf("%d names, %v", len(names), err)
	}
}
