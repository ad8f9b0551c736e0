package llm

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"familiar/internal/llm/llmtest"
	"familiar/internal/secret"
)

func TestFallback(t *testing.T) {
	never := make(chan struct{})
	for _, c := range []struct {
		name  string
		first llmtest.Reply
		want  bool // the second is asked
	}{
		{"overloaded", llmtest.Reply{Status: 529}, true}, {"no credit", llmtest.Reply{Status: 402}, true},
		{"silent", llmtest.Reply{Hold: never}, true}, {"unreached", llmtest.Reply{Drop: true}, true},
		{"wrong key", llmtest.Reply{Status: 401}, false}, {"too long", llmtest.Reply{Status: 413}, false}, {"refused", llmtest.Reply{Status: 400}, false},
		{"seen, then overloaded", llmtest.Reply{Text: "abc", ChunkSize: 1, FailAfter: 1, Code: "overloaded_error"}, false},
	} {
		first, second := newRig(t, "anthropic", answers(c.first)), newRig(t, "openai", answers(llmtest.Reply{Text: "from the second"}))
		first.firstByte = 30 * time.Millisecond
		if c.name != "silent" {
			first.firstByte = time.Minute
		}
		both := Fallback(first.client, second.client, slog.New(slog.DiscardHandler))
		a, err := both.Ask(t.Context(), say("hello"), nil)
		if asked := len(second.server.Requests()) > 0; asked != c.want || (err == nil) != c.want {
			t.Errorf("%s: the second was asked: %v; %v, %v", c.name, asked, a, err)
		}
		if both.Name() != "stub-1" || both.Provider() != first.Provider() {
			t.Errorf("it is %s of %s", both.Name(), both.Provider())
		}
	}
}

// When both fail, the person is told of the first, the operator of both.
func TestBothFail(t *testing.T) {
	first, second := newRig(t, "anthropic", answers(llmtest.Reply{Status: 402, Error: "pay first"})), newRig(t, "openai", answers(llmtest.Reply{Status: 401, Error: "no such key"}))
	_, err := Fallback(first.client, second.client, slog.New(slog.DiscardHandler)).Ask(t.Context(), say("hello"), nil)
	p := wantProblem(t, err, NoCredit)
	var inner Problem
	if !errors.As(p.Err, &inner) || inner.Kind != BadKey || p.Provider != first.Provider() {
		t.Errorf("%v, %v", p, p.Err)
	}
}

func TestNoFallbackForWhoeverLeft(t *testing.T) {
	first, second := newRig(t, "anthropic", answers(llmtest.Reply{Status: 529})), newRig(t, "openai", answers(llmtest.Reply{Text: "x"}))
	ctx, cancel := context.WithCancel(t.Context())
	first.pause = func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}
	if _, err := Fallback(first.client, second.client, slog.New(slog.DiscardHandler)).Ask(ctx, say("hello"), nil); !errors.Is(err, context.Canceled) || len(second.server.Requests()) > 0 {
		t.Errorf("error %v, second asked %d times", err, len(second.server.Requests()))
	}
}

func TestFallbackOfTheConfiguration(t *testing.T) {
	first, second := llmtest.Start(t, answers(llmtest.Reply{Status: 402})), llmtest.Start(t, answers(llmtest.Reply{Text: "from the second"}))
	c := Defaults()
	c.Provider, c.BaseURL, c.APIKey, c.Model = "anthropic", first.URL(), secret.New(canary), "m1"
	c.Fallback = FallbackConfig{Provider: compatible, BaseURL: second.URL(), Model: "m2"}
	m, err := Open(c, Deps{HTTP: carrier(t)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Ask(t.Context(), say("hello"), nil); err != nil {
		t.Fatal(err)
	}
	if q := second.Requests(); len(q) != 1 || q[0].Model != "m2" || q[0].Keyed {
		t.Errorf("the second was asked %+v", q)
	}
}
