package llm

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/llm/llmtest"
	"familiar/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// canary is the key of every test: nothing may ever show it.
const canary = "sk-canary-0123456789abcdef"

// rig is a client, the scripted provider that it asks, and what it did between two tries.
type rig struct {
	*client
	server *llmtest.Server

	mu     sync.Mutex
	pauses []time.Duration
}

// dialects are the providers that stand for both dialects in tests that run with each.
var dialects = []string{"anthropic", "openai"}

func each(t *testing.T, test func(t *testing.T, provider string)) {
	t.Helper()
	for _, p := range dialects {
		t.Run(p, func(t *testing.T) { test(t, p) })
	}
}

// carrier carries the requests of one test, and leaves nothing behind.
func carrier(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func newRig(t *testing.T, provider string, script llmtest.Script) *rig {
	t.Helper()
	return rigAt(t, provider, llmtest.Start(t, script))
}

func rigAt(t *testing.T, provider string, server *llmtest.Server) *rig {
	t.Helper()
	c := Defaults()
	c.Provider, c.BaseURL, c.APIKey, c.Model = provider, server.URL(), secret.New(canary), "stub-1"
	m, err := Open(c, Deps{HTTP: carrier(t)})
	if err != nil {
		t.Fatal(err)
	}
	made, ok := m.(*client)
	if !ok {
		t.Fatalf("it is a %T", m)
	}
	r := &rig{client: made, server: server}
	made.pause = func(ctx context.Context, d time.Duration) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.pauses = append(r.pauses, d)
		return context.Cause(ctx)
	}
	return r
}

// answers is a script with one reply to everything.
func answers(reply llmtest.Reply) llmtest.Script { return llmtest.Script{Default: &reply} }

func say(text string) Question {
	return Question{Messages: []Message{{User, []Part{Text(text)}}}}
}

// ask asks and wants an answer; pieces is everything that was handed on.
func (r *rig) ask(t *testing.T, q Question) (a Answer, pieces []Piece) {
	t.Helper()
	a, err := r.Ask(t.Context(), q, func(p Piece) { pieces = append(pieces, p) })
	if err != nil {
		t.Fatalf("%v (%v)", err, errors.Unwrap(err))
	}
	return a, pieces
}

// fails asks and wants a Problem of that kind, which shows no key.
func (r *rig) fails(t *testing.T, q Question, kind ProblemKind) Problem {
	t.Helper()
	_, err := r.Ask(t.Context(), q, nil)
	return wantProblem(t, err, kind)
}

func wantProblem(t *testing.T, err error, kind ProblemKind) Problem {
	t.Helper()
	var p Problem
	if !errors.As(err, &p) || p.Kind != kind {
		t.Fatalf("got %v (%v), want a problem of kind %s", err, errors.Unwrap(err), kind)
	}
	if p.Say == "" || p.Err == nil {
		t.Errorf("the problem says nothing: %q, %v", p.Say, p.Err)
	}
	for _, text := range []string{p.Say, p.Err.Error(), p.In("zh-TW")} {
		if strings.Contains(text, canary) || strings.Contains(text, "{") {
			t.Errorf("the problem says %q", text)
		}
	}
	return p
}

// said joins what was handed on.
func said(pieces []Piece) (text, thinking string, calls []Call) {
	for _, p := range pieces {
		text += p.Text
		thinking += p.Thinking
		if p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return text, thinking, calls
}
