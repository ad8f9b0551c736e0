package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/acp/profile"
	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/process"
)

// BUG-D15: what is no text leaves a note where words would have been, in its place among them.
func TestWhatCannotBeShown(t *testing.T) {
	w := &agenttest.Watch{}
	turnOn(t, w, func(f *fake) {
		f.chunk("look: ")
		for _, content := range []string{
			`{"type":"image","mimeType":"image/png","data":"aGk="}`,
			`{"type":"audio","mimeType":"audio/wav","data":"aGk="}`,
			`{"type":"resource_link","name":"report.pdf","uri":"file:///report.pdf"}`,
			`{"type":"resource","resource":{"uri":"file:///a.txt","text":"WRONG"}}`,
			`{"type":"hologram"}`,
			`{"type":"text","text":""}`,
		} {
			f.line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":`+
				`{"sessionUpdate":"agent_message_chunk","content":%s}}}`, content)
		}
	})
	if want := "look: [image image/png][audio audio/wav][resource_link report.pdf][resource][hologram]"; w.Said() != want {
		t.Errorf("seen: %q, want %q", w.Said(), want)
	}
}

// BUG-D16: an agent that is cancelled 5 ms after its prompt, and never answers that: it has the grace and no more, then
// it is killed, and the turn ends with the cause. When the program leaves the grace is shorter.
func TestCancelRightAfterThePrompt(t *testing.T) {
	for cause, want := range map[error]time.Duration{chat.ErrStopped: 10 * time.Second, chat.ErrShutdown: leavingGrace} {
		synctest.Test(t, func(t *testing.T) {
			var log records
			a, made := faked(t, Defaults(), log.logger())
			s, f := openFake(t, a, made, "")
			heard := make(chan string, 8)
			go func() {
				for m := f.next(); m.Method != ""; m = f.next() {
					heard <- m.Method
				}
				close(heard)
			}()
			ctx, cancel := context.WithCancelCause(t.Context())
			stop := time.AfterFunc(5*time.Millisecond, func() { cancel(cause) })
			defer stop.Stop()
			began := time.Now()
			_, err := prompt(ctx, s, &agenttest.Watch{}, "go")
			if took := time.Since(began); !errors.Is(err, cause) || took != want+5*time.Millisecond {
				t.Errorf("ended with %v after %s, want %v after %s", err, took, cause, want)
			}
			<-f.done
			if first, second := <-heard, <-heard; first != "session/prompt" || second != "session/cancel" {
				t.Errorf("it was sent %s, %s", first, second)
			}
			if err := s.Close(); err != nil || a.Living() != 0 || len(log.at(slog.LevelWarn)) != 1 {
				t.Errorf("closed with %v, %d live, warned %q", err, a.Living(), log.at(slog.LevelWarn))
			}
		})
	}
}

// BUG-D19: while an agent waits for a permission another session is opened, used and closed: it is another process.
func TestASessionBesideOneThatAsks(t *testing.T) {
	a := scripted(t, quick(), script.Script{Turns: []script.Turn{{On: "hello", Steps: []script.Step{{Say: "hi"}}},
		{Steps: []script.Step{{Ask: script.AlwaysFirst()}, {Say: "done"}}}}}, nil)
	ann := open(t, a, opening("ann"))
	w := &agenttest.Watch{Answer: func(_ context.Context, ask agent.Ask) agent.Answer {
		bob, err := a.Open(t.Context(), opening("bob"))
		if err != nil {
			t.Errorf("opened with %v", err)
			return agent.Answer{}
		}
		w := &agenttest.Watch{}
		if _, err := prompt(t.Context(), bob, w, "hello"); err != nil || w.Said() != "hi" {
			t.Errorf("said %q, %v", w.Said(), err)
		}
		var first, second int
		_, _ = fmt.Sscanf(ann.ID(), "s%d-", &first) // the ids of the script's sessions begin with its process
		_, _ = fmt.Sscanf(bob.ID(), "s%d-", &second)
		if first == 0 || second == 0 || first == second {
			t.Errorf("the sessions %s and %s share a process", ann.ID(), bob.ID())
		}
		if err := bob.Close(); err != nil {
			t.Error(err)
		}
		return ask.Choose(true)
	}}
	if _, err := prompt(t.Context(), ann, w, "go"); err != nil || w.Said() != "done" {
		t.Errorf("the one that asked said %q, %v", w.Said(), err)
	}
}

// BUG-D21: greeting, going on and beginning anew have a deadline each, however long the step before took.
func TestEachStepHasItsDeadline(t *testing.T) {
	limit := ms(Defaults().ConnectTimeoutMs)
	for name, c := range map[string]struct {
		resume string
		slow   []time.Duration // how long each step but the last takes; the last is never answered
		want   time.Duration
		step   string
	}{
		"initialize":  {"", nil, limit, "initialize: "},
		"session/new": {"", []time.Duration{limit - time.Second}, 2*limit - time.Second, "open the conversation: "},
		"session/load": {"s0", []time.Duration{limit - time.Second, limit + time.Second}, 3*limit - time.Second,
			"open the conversation: "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, made := faked(t, Defaults(), quiet())
				o := opening("ann")
				o.Resume = c.resume
				go func() {
					f := <-made
					for _, slow := range c.slow {
						m := f.next()
						time.Sleep(slow)
						f.answer(m, `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`)
					}
					for f.next().Method != "" {
					}
				}()
				began := time.Now()
				_, err := a.Open(t.Context(), o)
				if took := time.Since(began); !errors.Is(err, errConnect) || took != c.want {
					t.Errorf("ended with %v after %s, want %s", err, took, c.want)
				}
				if err == nil || !strings.Contains(err.Error(), c.step) || !strings.Contains(err.Error(), "the command was: ") {
					t.Errorf("the error does not say enough: %v", err)
				}
				if a.Living() != 0 {
					t.Error("it lives")
				}
			})
		})
	}
}

// BUG-D21: whatever goes wrong after the greeting, the error names the command, and how it ended.
func TestTheErrorNamesTheCommand(t *testing.T) {
	for mood, want := range map[string]script.Moods{
		"exit status 3":  {Die: "session/new", Stderr: "use --acp"},
		"signal SIGTERM": {Silent: "session/new", IgnoreEOF: true, Stderr: "use --acp"},
	} {
		t.Run(mood, func(t *testing.T) {
			cfg := quick()
			cfg.ConnectTimeoutMs, cfg.EOFGraceMs, cfg.Args = 1500, 1, []string{"--flag"}
			a := scripted(t, cfg, script.Script{Moods: want}, nil)
			_, err := a.Open(t.Context(), opening("ann"))
			if err == nil {
				t.Fatal("opened")
			}
			for _, want := range []string{a.profile.Command + " --flag", "it ended with " + mood, "use --acp"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
}

// BUG-E04: a turn that is stopped, or whose time is over, while nobody has answered: the agent gets «cancelled» and
// no refusal, and the turn stops.
func TestNobodyAnswers(t *testing.T) {
	for _, cause := range []error{chat.ErrStopped, chat.ErrTooLong} {
		synctest.Test(t, func(t *testing.T) {
			a, made := faked(t, Defaults(), quiet())
			s, f := openFake(t, a, made, "")
			defer s.Close()
			outcome, cancelled, played := "", false, make(chan struct{})
			go func() {
				defer close(played)
				asked := f.next()
				f.line("%s", permissionFor("a:allow_once c:reject_once"))
				for m := f.next(); !cancelled || outcome == ""; m = f.next() {
					cancelled = cancelled || m.Method == "session/cancel"
					outcome += string(m.Result)
				}
				f.answer(asked, `{"stopReason":"cancelled"}`)
			}()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			w := &agenttest.Watch{Answer: func(ctx context.Context, ask agent.Ask) agent.Answer {
				if errors.Is(cause, chat.ErrStopped) {
					cancel(cause)
				}
				<-ctx.Done()
				return ask.Choose(false)
			}}
			if _, err := prompt(ctx, s, w, "go"); !errors.Is(err, cause) {
				t.Errorf("ended with %v, want %v", err, cause)
			}
			<-played
			if outcome != `{"outcome":{"outcome":"cancelled"}}` || !cancelled {
				t.Errorf("the question was answered with %s; told to stop: %t", outcome, cancelled)
			}
		})
	}
}

// BUG-E12: a question behind as many updates as may wait, more behind it, and nobody who takes any: it is kept, and
// asked after what came before it.
func TestAQuestionInAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		piece := strings.Repeat("x", 1<<20)
		came, first := 0, true
		w := &agenttest.Watch{}
		w.Answer = func(_ context.Context, ask agent.Ask) agent.Answer {
			came = len(w.Said())
			return ask.Choose(true)
		}
		w.Each = func(agent.Update) {
			if first {
				first = false
				synctest.Wait() // until no more may wait
			}
		}
		const before, after = 16, 3 // one is taken, and no more than 15 of them may wait
		turnOn(t, w, func(f *fake) {
			for range before {
				f.chunk(piece)
			}
			f.line("%s", permissionFor("a:allow_once"))
			answered := make(chan message)
			go func() { answered <- f.next() }()
			for range after {
				f.chunk(piece)
			}
			if m := <-answered; !strings.Contains(string(m.Result), `"a"`) {
				t.Errorf("the question was answered with %s", m.Result)
			}
		})
		if len(w.Asks()) != 1 || came != before*len(piece) || len(w.Said()) != (before+after)*len(piece) {
			t.Errorf("asked %d times, after %d bytes; %d came in all", len(w.Asks()), came, len(w.Said()))
		}
	})
}

// BUG-F07: a stopped turn leaves the session as it was, and its id; the next message is answered in it.
func TestTheIDOutlivesAStop(t *testing.T) {
	a := scripted(t, quick(), script.Script{Turns: []script.Turn{
		{On: "first", Steps: []script.Step{{Say: "waiting"}, {Wait: true}}}, {On: "second", Steps: []script.Step{{Say: "whole"}}}}}, nil)
	s := open(t, a, opening("ann"))
	id := s.ID()
	ctx, cancel := context.WithCancelCause(t.Context())
	if _, err := prompt(ctx, s, &agenttest.Watch{Each: func(agent.Update) { cancel(chat.ErrStopped) }}, "first"); !errors.Is(err, chat.ErrStopped) {
		t.Fatal(err)
	}
	if w := ask(t, s, "second"); s.ID() != id || w.Said() != "whole" {
		t.Errorf("in the session %q, which was %q, it said %q", s.ID(), id, w.Said())
	}
}

// BUG-F07: an id that is dead is tried once; what opens then answers every message, and nobody tries the id again.
func TestADeadIDIsTriedOnce(t *testing.T) {
	o := opening("ann")
	o.Resume = "s0"
	s, f := openEarlier(t, quiet(), o, `{"loadSession":true}`, func(f *fake) {
		load := f.next()
		f.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown session"}}`, load.ID)
		fresh := f.next()
		if load.Method != "session/load" || fresh.Method != "session/new" {
			t.Errorf("sent %s, then %s", load.Method, fresh.Method)
		}
		f.answer(fresh, `{"sessionId":"s1"}`)
	})
	defer s.Close()
	heard := make(chan string, 8)
	go func() {
		for m := f.next(); m.Method != ""; m = f.next() {
			heard <- m.Method
			f.answer(m, `{"stopReason":"end_turn"}`)
		}
		close(heard)
	}()
	for _, text := range []string{"one", "two"} {
		if _, err := prompt(t.Context(), s, &agenttest.Watch{}, text); err != nil || s.ID() != "s1" {
			t.Errorf("%s ended with %v in the session %q", text, err, s.ID())
		}
		if got := <-heard; got != "session/prompt" {
			t.Errorf("for %s it was sent %s", text, got)
		}
	}
}

// BUG-F10: an agent that dies in its first turn has told the id of its session before, and so have we: another process
// goes on with it.
func TestTheIDIsKnownAtFirstSight(t *testing.T) {
	a, made := faked(t, quick(), quiet())
	s, f := openFake(t, a, made, "")
	go func() { f.next(); f.exit(errors.New("killed")) }()
	if _, err := prompt(t.Context(), s, &agenttest.Watch{}, "go"); !errors.Is(err, agent.ErrGone) {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	o := opening("ann")
	o.Resume = s.ID()
	again, _ := openEarlier(t, quiet(), o, `{"loadSession":true}`, func(f *fake) {
		m := f.next()
		var p struct{ SessionID string }
		if err := json.Unmarshal(m.Params, &p); err != nil || m.Method != "session/load" || p.SessionID != "s1" {
			t.Errorf("sent %s %s", m.Method, m.Params)
		}
		f.answer(m, `{}`)
	})
	defer again.Close()
	if again.ID() != "s1" {
		t.Errorf("the session is %q", again.ID())
	}
}

// BUG-G04: an agent that has something to do when its session ends gets the time that is set; when that is over,
// SIGTERM.
func TestHookAtTheEnd(t *testing.T) {
	for _, patient := range []bool{true, false} {
		cfg, want := quick(), "status 0"
		cfg.EOFGraceMs, cfg.TermGraceMs = 60_000, 60_000
		if !patient {
			cfg.EOFGraceMs, want = 1, "signal SIGTERM"
		}
		a := scripted(t, cfg, script.Script{Moods: script.Moods{Hook: "hook"}}, nil)
		s := open(t, a, opening("ann")).(*session)
		hook, closed := filepath.Join(s.stand.Work, "hook"), make(chan error, 1)
		go func() { closed <- s.Close() }()
		if patient {
			until(t, "the hook runs, or nobody lets it", func() bool {
				_, err := os.Lstat(hook)
				return err == nil || s.exit() != "not ended"
			})
			_ = os.Remove(hook) // when it is not there the exit tells
		}
		if err := <-closed; err != nil || s.exit() != want {
			t.Errorf("closed with %v; the agent ended with %s, want %s", err, s.exit(), want)
		}
	}
	got := Config{EOFGraceMs: 20_000, TermGraceMs: 3000}.grace(profile.Profile{})
	if want := (process.Grace{EOF: 20 * time.Second, Term: 3 * time.Second}); got != want {
		t.Errorf("the waits are %v, want %v", got, want)
	}
}

// What an agent does wrong again and again is logged a few times, and then counted.
func TestNoiseIsCounted(t *testing.T) {
	var log records
	steps := []script.Step{{Say: "hello"}}
	for range 50 {
		steps = append(steps, script.Step{Raw: "loading"})
	}
	a := scripted(t, quick(), script.Script{Moods: script.Moods{Stderr: strings.Repeat("a word\n", 50)},
		Turns: []script.Turn{{Steps: steps}}}, func(d *Deps) { d.Log = log.logger() })
	s := open(t, a, opening("ann"))
	ask(t, s, "go")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	all := log.all()
	for _, message := range []string{"skipped noise", "standard error"} {
		if n := strings.Count(all, message); n != loggedNoise {
			t.Errorf("%q is logged %d times, want %d", message, n, loggedNoise)
		}
	}
	if !strings.Contains(all, "noise=50") || !strings.Contains(all, "stderr=51") {
		t.Errorf("the counts are not logged:\n%s", all)
	}
}

// What an agent does not take is said once, and not again in every session.
func TestATransportIsMissedOnce(t *testing.T) {
	var log records
	cfg := quick()
	cfg.MCPServers = []MCPServer{{Name: "far", Transport: "sse", URL: "http://127.0.0.1:1/"}}
	a := scripted(t, cfg, script.Script{}, func(d *Deps) { d.Log = log.logger() })
	for range 2 {
		open(t, a, opening("ann"))
	}
	if warned := log.at(slog.LevelWarn); len(warned) != 1 || !strings.Contains(warned[0], "server=far") {
		t.Errorf("warned %q", warned)
	}
}
