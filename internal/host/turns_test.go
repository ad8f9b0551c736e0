package host

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/phrase"
	"familiar/internal/platform"
)

func (r *rig) phrase(key phrase.Key) string { return r.phrases.Say(key) }

func TestAFailedTurnGetsOneNeutralSentence(t *testing.T) {
	for name, turn := range map[string]script.Turn{
		"AF-91 twice without a word": {Steps: []script.Step{{Say: "to nobody"}}},
		"an agent that fails":        {Steps: []script.Step{{Fail: "secret detail"}}},
		"an agent that panics":       {Steps: []script.Step{{Panic: "secret detail"}}},
		"a refusal":                  {Steps: []script.Step{{End: agent.Refusal}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := live(t, dir(t), nil, turn, turn)
			r.hears(event("hall", "ann", "hello"), chat.Accepted)
			r.says("hall: " + r.phrase(phrase.Sorry))
			if left, err := r.inbox.Left(t.Context()); err != nil || len(left) != 0 {
				t.Fatal(left, err)
			}
		})
	}
}

// AF-95: two people at once have two sessions; that one breaks is nothing to the other.
func TestOneTurnBreaksAndTheOtherDoesNot(t *testing.T) {
	go1 := make(chan struct{})
	r := live(t, dir(t), nil, script.Turn{Steps: []script.Step{{Until: go1}, use("send-reply", map[string]string{"message": "hi"})}})
	r.hears(event("hall", "ann", "hello"), chat.Accepted)
	r.hears(event("hall", "ben", "hello"), chat.Accepted)
	r.until("both run", func() bool { return r.rooms.Load().Running == 2 })
	ann := event("hall", "ann", "/stop")
	r.hears(ann, chat.Accepted)
	r.until("one was stopped", func() bool { return r.rooms.Load().Running == 1 })
	close(go1)
	r.says("hall: "+r.phrase(phrase.Stopped), "hall: hi")
}

func TestAStoppedTurnSaysNothingMore(t *testing.T) {
	r := live(t, dir(t), nil, script.Turn{Steps: []script.Step{{Wait: true}}})
	r.hears(event("dm1", "ann", "/stop"), chat.Accepted)
	r.says("dm1: " + r.phrase(phrase.NothingToStop))
	r.hears(event("dm1", "ann", "think"), chat.Accepted)
	r.until("it runs", func() bool { return r.rooms.Load().Running == 1 })
	r.hears(event("dm1", "ann", "/stop"), chat.Accepted)
	r.says("dm1: "+r.phrase(phrase.NothingToStop), "dm1: "+r.phrase(phrase.Stopped))
}

// AF-196: a turn that runs when the program leaves is finished; one that waits is taken up by the next process.
func TestLeavingLetsTurnsEnd(t *testing.T) {
	d, hold := dir(t), make(chan struct{})
	r := live(t, d, nil, script.Turn{Steps: []script.Step{{Until: hold}, use("send-reply", map[string]string{"message": "done"})}})
	r.hears(event("dm1", "ann", "one"), chat.Accepted)
	r.until("it runs", func() bool { return r.rooms.Load().Running == 1 })
	r.hears(event("dm1", "ann", "two"), chat.Accepted)
	r.leave()
	r.until("it leaves", func() bool { return strings.Contains(r.log.String(), "leaving") })
	close(hold)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if said := r.net.said(); len(said) != 1 || said[0] != "dm1: done" {
		t.Fatal(said)
	}
	r = live(t, d, nil, reply("second"))
	r.says("dm1: second")
	if !strings.Contains(r.agent.prompt(0), "two") {
		t.Fatal(r.agent.prompt(0))
	}
}

func TestLeavingCutsOffWhatTakesTooLong(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) { c.Server.ShutdownMs = 1 }, script.Turn{Steps: []script.Step{{Wait: true}}})
	r.hears(event("dm1", "ann", "one"), chat.Accepted)
	r.until("it runs", func() bool { return r.rooms.Load().Running == 1 })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if said := r.net.said(); len(said) != 1 || said[0] != "dm1: "+r.phrase(phrase.CutOff) {
		t.Fatal(said)
	}
}

func TestWithoutAnAgentThePersonIsToldWhatToDo(t *testing.T) {
	r := live(t, dir(t), nil)
	for _, key := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"} {
		t.Setenv(key, "")
	}
	r.agent.Agent = r.openBuiltin()
	r.hears(event("dm1", "ann", "hello"), chat.Accepted)
	r.until("something is said", func() bool { return len(r.net.said()) == 1 })
	if said := r.net.said()[0]; !strings.Contains(said, "opencode-ai") {
		t.Fatal(said)
	}
}

func TestHealth(t *testing.T) {
	r := live(t, dir(t), nil, reply("hi"))
	ask := func(method, path string, status int) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, r.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("%s %s: %d, want %d", method, path, resp.StatusCode, status)
		}
		if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
			t.Errorf("%s %s is answered with %q", method, path, kind)
		}
	}
	want := func(path string, status int) { t.Helper(); ask(http.MethodGet, path, status) }
	for _, path := range []string{"/livez", "/healthz", "/health", "/readyz", "/ready"} {
		want(path, http.StatusOK)
	}
	want("/metrics", http.StatusNotFound)
	want("/v1/sessions", http.StatusUnauthorized)
	want("/v1", http.StatusUnauthorized)
	for _, path := range []string{"/livez", "/healthz", "/readyz"} {
		ask(http.MethodPost, path, http.StatusMethodNotAllowed)
	}
	want("/livez/", http.StatusNotFound)
	http.DefaultClient.CloseIdleConnections()
}

func TestHealthFollowsTheLinks(t *testing.T) {
	source := &moody{}
	link := platform.NewLink(source, 0, slog.New(slog.DiscardHandler))
	started := false
	h := &health{links: []*platform.Link{link}, began: time.Now(), now: time.Now, started: func() bool { return started }}
	check := func(what, status string, ready bool) {
		t.Helper()
		if got := h.report().Status; got != status || h.ready(t.Context()).Ready != ready {
			t.Errorf("%s: %s, ready %v", what, got, h.ready(t.Context()).Ready)
		}
	}
	check("AF-186 before any platform is connected", "unhealthy", false)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	source.connected, source.lose = make(chan struct{}), make(chan struct{})
	go func() { done <- link.Keep(ctx, nil) }()
	<-source.connected
	check("AF-186 while starting", "unhealthy", false)
	started = true
	check("connected", "healthy", true)
	close(source.lose)
	for link.State().Status != platform.Reconnecting {
		time.Sleep(time.Millisecond)
	}
	check("AF-187 reconnecting", "degraded", false)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// moody is a source that connects, and is lost when it is told.
type moody struct{ connected, lose chan struct{} }

func (m *moody) Name() string { return "moody" }

func (m *moody) Run(ctx context.Context, _ chat.Hear, up func()) error {
	up()
	close(m.connected)
	select {
	case <-m.lose:
		return errors.New("lost")
	case <-ctx.Done():
		return nil
	}
}

// Where nobody can tell whether a reply arrived, the person is told, while the bot runs.
func TestAReplyThatMayBeLost(t *testing.T) {
	r := live(t, dir(t), nil, reply("here you are"))
	r.net.mu.Lock()
	r.net.loses = 1
	r.net.mu.Unlock()
	r.hears(event("g", "ann", "hi"), chat.Accepted)
	r.says("g: " + r.phrases.Say(phrase.LostReply))
	if strings.Contains(r.log.String(), "turn failed") {
		t.Error("the turn counts as failed")
	}
}
