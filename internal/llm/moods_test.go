package llm

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/llm/llmtest"
)

func TestRefusals(t *testing.T) {
	cases := []struct {
		name  string
		reply llmtest.Reply
		want  ProblemKind
	}{
		{"wrong key", llmtest.Reply{Status: 401, Error: "invalid x-api-key", Code: "authentication_error"}, BadKey},
		{"key without the right", llmtest.Reply{Status: 403, Error: "not allowed", Code: "permission_error"}, BadKey},
		{"key of another form", llmtest.Reply{Status: 400, Error: "API key not valid. Please pass a valid API key."}, BadKey},
		{"no credit", llmtest.Reply{Status: 402, Error: "pay"}, NoCredit},
		{"quota", llmtest.Reply{Status: 429, Error: "You exceeded your current quota", Code: "insufficient_quota"}, NoCredit},
		{"balance", llmtest.Reply{Status: 400, Error: "Your credit balance is too low", Code: "invalid_request_error"}, NoCredit},
		{"no such model", llmtest.Reply{Status: 404, Error: "model: stub-1", Code: "not_found_error"}, NoModel},
		{"no tools", llmtest.Reply{Status: 400, Error: "stub-1 does not support tools"}, NoModel},
		{"too long", llmtest.Reply{Status: 400, Error: "prompt is too long: 9 tokens > 8 maximum", Code: "invalid_request_error"}, Overfull},
		{"too long, by code", llmtest.Reply{Status: 400, Error: "reduce it", Code: "context_length_exceeded"}, Overfull},
		{"too large", llmtest.Reply{Status: 413, Error: "x"}, Overfull},
		{"moderated", llmtest.Reply{Status: 403, Error: "input was flagged by moderation"}, Declined},
		{"policy", llmtest.Reply{Status: 400, Error: "x", Code: "content_policy_violation"}, Declined},
		{"picture", llmtest.Reply{Status: 400, Error: "Could not process image", Code: "invalid_request_error"}, BadImage},
		{"another field", llmtest.Reply{Status: 400, Error: "tools.0: wrong", Code: "invalid_request_error"}, Rejected},
		{"page", llmtest.Reply{Raw: "<html>welcome</html>", RawType: "text/html"}, Broken},
		{"json instead of a stream", llmtest.Reply{Raw: "{}", RawType: "application/json"}, Broken},
		{"redirect", llmtest.Reply{Redirect: "http://127.0.0.1:9/elsewhere"}, Rejected},
	}
	each(t, func(t *testing.T, provider string) {
		for _, c := range cases {
			r := newRig(t, provider, answers(c.reply))
			p := r.fails(t, say("hello"), c.want)
			if n := len(r.server.Requests()); n != 1 || !strings.Contains(p.Say, r.Provider()) && p.Kind != Overfull {
				t.Errorf("%s: asked %d times, says %q", c.name, n, p.Say)
			}
		}
	})
}

// What may pass is tried again, with the provider's delay, as long as nothing was handed on.
func TestTriesAgain(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		for name, first := range map[string]llmtest.Reply{
			"429": {Status: 429, Error: "slow down", RetryAfter: "7"}, "500": {Status: 500, Error: "oops"}, "503": {Status: 503}, "529": {Status: 529, Code: "overloaded_error"},
			"dropped": {Drop: true}, "cut before anything": {CutFirst: true},
			"overloaded in the stream": {ToolCalls: twoCalls[:1], Split: true, ChunkSize: 4, FailAfter: 1, Code: "overloaded_error", Error: "Overloaded"},
		} {
			r := newRig(t, provider, llmtest.Script{Rules: []llmtest.Rule{{Times: 2, Reply: first}}, Default: &llmtest.Reply{Text: "at last"}})
			if a, _ := r.ask(t, say("hello")); len(a.Parts) != 1 || a.Parts[0] != Text("at last") {
				t.Errorf("%s: %v", name, a.Parts)
			}
			if len(r.pauses) != 2 || r.pauses[1] < r.pauses[0] && name != "429" {
				t.Errorf("%s: waited %v", name, r.pauses)
			}
			if name == "429" && (r.pauses[0] != 7*time.Second || r.pauses[1] != 7*time.Second) {
				t.Errorf("%s: waited %v, not what the provider asked for", name, r.pauses)
			}
		}
	})
}

func TestGivesUp(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		r := newRig(t, provider, answers(llmtest.Reply{Status: 529, Code: "overloaded_error", RetryAfter: "2"}))
		if p := r.fails(t, say("hello"), Overloaded); p.After != 2*time.Second || len(r.server.Requests()) != maxTries || !strings.Contains(p.In("en"), "2 s") {
			t.Errorf("after %v, %d requests, says %q", p.After, len(r.server.Requests()), p.In("en"))
		}
		// A delay that nobody can wait for is told at once.
		r = newRig(t, provider, answers(llmtest.Reply{Status: 429, RetryAfter: "3600"}))
		if p := r.fails(t, say("hello"), Overloaded); p.After != time.Hour || len(r.server.Requests()) != 1 {
			t.Errorf("after %v, %d requests", p.After, len(r.server.Requests()))
		}
		// Whoever gave up meanwhile is not asked again.
		r = newRig(t, provider, answers(llmtest.Reply{Status: 500}))
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped by a person")
		r.pause = func(ctx context.Context, d time.Duration) error {
			cancel(stopped)
			return pause(ctx, time.Hour)
		}
		if _, err := r.Ask(ctx, say("hello"), nil); !errors.Is(err, stopped) || len(r.server.Requests()) != 1 {
			t.Errorf("error %v after %d requests", err, len(r.server.Requests()))
		}
	})
}

func TestBrokenStreams(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		for name, reply := range map[string]llmtest.Reply{
			"cut": {Text: "a long answer", ChunkSize: 2, CutAfter: 2}, "garbage": {Text: "a long answer", ChunkSize: 2, Garbage: true},
		} {
			r := newRig(t, provider, answers(reply))
			var seen string
			a, err := r.Ask(t.Context(), say("hello"), func(p Piece) { seen += p.Text })
			wantProblem(t, err, Broken)
			if seen == "" || len(a.Parts) > 0 || len(r.server.Requests()) != 1 {
				t.Errorf("%s: saw %q, answer %v, %d requests: what was seen is not asked for again", name, seen, a, len(r.server.Requests()))
			}
		}
		r := newRig(t, provider, answers(llmtest.Reply{Text: "a long answer", ChunkSize: 2, FailAfter: 2, Code: "overloaded_error", Error: "Overloaded"}))
		r.fails(t, say("hello"), Overloaded)
		if n := len(r.server.Requests()); n != 1 {
			t.Errorf("asked %d times after something was seen", n)
		}
	})
}

func TestSilence(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		never := make(chan struct{})
		r := newRig(t, provider, answers(llmtest.Reply{Text: "x", Hold: never}))
		r.firstByte = 20 * time.Millisecond
		if p := r.fails(t, say("hello"), Silent); !strings.Contains(p.Err.Error(), "first byte") {
			t.Errorf("error %v", p.Err)
		}
		r = newRig(t, provider, answers(llmtest.Reply{Text: "a long answer", ChunkSize: 2, HoldRest: never}))
		r.silence = 20 * time.Millisecond
		if p := r.fails(t, say("hello"), Silent); !strings.Contains(p.Err.Error(), "more") {
			t.Errorf("error %v", p.Err)
		}
		if n := len(r.server.Requests()); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// A caller who takes its time is not mistaken for a silent provider.
func TestSlowCallerIsNoSilence(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		r := newRig(t, provider, answers(llmtest.Reply{Text: "ab", ChunkSize: 1}))
		r.silence = 30 * time.Millisecond
		_, err := r.Ask(t.Context(), say("hello"), func(Piece) {
			if pauseErr := pause(t.Context(), 3*r.silence); pauseErr != nil {
				t.Error(pauseErr)
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestCancelledByTheCaller(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		never := make(chan struct{})
		r := newRig(t, provider, answers(llmtest.Reply{Text: "a long answer", ChunkSize: 2, HoldRest: never}))
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped by a person")
		_, err := r.Ask(ctx, say("hello"), func(Piece) { cancel(stopped) })
		var p Problem
		if !errors.Is(err, stopped) || errors.As(err, &p) {
			t.Errorf("error %v", err)
		}
	})
}

func TestUnreached(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		r := newRig(t, provider, answers(llmtest.Reply{Text: "x"}))
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		r.base = "http://" + l.Addr().String()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		r.fails(t, say("hello"), Unreached)
		if len(r.pauses) != maxTries-1 {
			t.Errorf("waited %v", r.pauses)
		}
	})
}

// flood answers 200 and never ends.
type flood struct{ line string }

func (f flood) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for range 64 << 20 {
		if _, err := io.WriteString(w, f.line); err != nil {
			return
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	for name, line := range map[string]string{"one line": strings.Repeat("x", 1<<20), "many comments": strings.Repeat(": "+strings.Repeat("nothing yet ", 100)+"\n\n", 1<<10)} {
		s := httptest.NewServer(flood{line})
		t.Cleanup(s.Close)
		r := newRig(t, "compatible", llmtest.Script{})
		r.base = s.URL
		if p := r.fails(t, say("hello"), Broken); !errors.Is(p.Err, errTooMuch) {
			t.Errorf("%s: %v", name, p.Err)
		}
	}
}

// What is short on the wire may still be more than anything should have to keep.
func TestWhatAnswersHoldIsBounded(t *testing.T) {
	for name, reply := range map[string]llmtest.Reply{
		"calls": {ToolCalls: slices.Repeat(twoCalls[:1], maxCalls+1)},
		"input": {ToolCalls: []llmtest.ToolCall{{Name: "memory-save", Arguments: `{"content":"` + strings.Repeat("x", maxHeld) + `"}`}}, Split: true, ChunkSize: 1 << 20},
		"words": {Text: strings.Repeat("x", maxHeld+1), ChunkSize: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, provider string) {
				r := newRig(t, provider, answers(reply))
				if p := r.fails(t, say("hello"), Broken); !errors.Is(p.Err, errTooRich) || len(r.pauses) != 0 {
					t.Errorf("%v, after waiting %v", p.Err, r.pauses)
				}
			})
		})
	}
}
