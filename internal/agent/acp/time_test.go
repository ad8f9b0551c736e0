package acp

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/chat"
	"familiar/internal/jsonrpc"
)

// AF-99: an agent that never answers initialize gets its warning at 24 s, and its end at 30 s.
func TestConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log records
		a, made := faked(t, Defaults(), log.logger())
		began := time.Now()
		failed := make(chan error)
		go func() { _, err := a.Open(t.Context(), opening("ann")); failed <- err }()
		f := <-made
		f.next()
		time.Sleep(24*time.Second - time.Millisecond - time.Since(began))
		synctest.Wait()
		if len(log.at(slog.LevelWarn)) != 0 {
			t.Errorf("warned before 24 s: %v", log.at(slog.LevelWarn))
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if len(log.at(slog.LevelWarn)) != 1 {
			t.Errorf("warned %d times after 24 s", len(log.at(slog.LevelWarn)))
		}
		err := <-failed
		if !errors.Is(err, errConnect) || time.Since(began).Round(time.Second) != 30*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		<-f.done
		if a.Living() != 0 {
			t.Error("the agent lives")
		}
	})
}

// idling opens a session on a fake and prompts it; the outcome of the prompt comes to the channel.
func idling(t *testing.T, outcomes *[]string) (*fake, <-chan error, func()) {
	t.Helper()
	cfg := Defaults()
	cfg.PromptTimeoutMs = 0
	a, made := faked(t, cfg, quiet())
	a.deps.Idle = func(_, outcome string) { *outcomes = append(*outcomes, outcome) }
	s, f := openFake(t, a, made, "")
	done := make(chan error, 1)
	go func() {
		_, err := s.Prompt(t.Context(), chat.Turn{}, []agent.Block{agent.Text("hi")}, &agenttest.Watch{})
		done <- err
	}()
	f.next()
	return f, done, func() { _ = s.Close() }
}

// AF-102: silent for too long, and the process is gone.
func TestIdleAndGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var outcomes []string
		f, done, end := idling(t, &outcomes)
		defer end()
		f.chunk("a sign of life, not at the time of a check")
		time.Sleep(10 * time.Second)
		f.chunk("another")
		time.Sleep(305 * time.Second)
		f.exit(errors.New("exit status 1"))
		if err := <-done; !errors.Is(err, agent.ErrGone) {
			t.Errorf("ended with %v", err)
		}
		if len(outcomes) != 1 || outcomes[0] != OutcomeGone {
			t.Errorf("counted %v", outcomes)
		}
	})
}

// AF-103: a chunk every 60 s, for an hour.
func TestNeverIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var outcomes []string
		f, done, end := idling(t, &outcomes)
		defer end()
		for range 60 {
			time.Sleep(time.Minute)
			f.chunk("still here")
		}
		f.answer(message{Message: jsonrpc.Message{ID: []byte("3")}}, `{"stopReason":"end_turn"}`)
		if err := <-done; err != nil || len(outcomes) != 0 {
			t.Errorf("ended with %v, counted %v", err, outcomes)
		}
	})
}

// A silent agent is cancelled; whether it then ends its turn or not, somebody is told that it went silent.
func TestIdleProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var outcomes []string
		f, done, end := idling(t, &outcomes)
		defer end()
		if m := f.next(); m.Method != "session/cancel" {
			t.Errorf("it was sent %q", m.Method)
		}
		f.answer(message{Message: jsonrpc.Message{ID: []byte("3")}}, `{"stopReason":"cancelled"}`)
		if err := <-done; !errors.Is(err, agent.ErrIdle) || len(outcomes) != 1 || outcomes[0] != OutcomeAlive {
			t.Errorf("ended with %v, counted %v", err, outcomes)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var outcomes []string
		f, done, end := idling(t, &outcomes)
		defer end()
		began := time.Now()
		f.next()
		if err := <-done; !errors.Is(err, agent.ErrIdle) || len(outcomes) != 2 || outcomes[1] != OutcomeDead {
			t.Errorf("ended with %v, counted %v", err, outcomes)
		}
		if took := time.Since(began); took > 11*time.Minute {
			t.Errorf("given up only after %s", took)
		}
		<-f.done
	})
}

// While a person thinks about a permission nobody is idle.
func TestAskingIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Defaults()
		cfg.PromptTimeoutMs = 0
		a, made := faked(t, cfg, quiet())
		s, f := openFake(t, a, made, "")
		defer s.Close()
		go func() {
			f.next()
			f.line(`{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s1",` +
				`"toolCall":{"toolCallId":"c","title":"run"},"options":[{"optionId":"y","kind":"allow_once","name":"y"}]}}`)
			if m := f.next(); !strings.Contains(string(m.Result), `"y"`) {
				t.Errorf("answered %s", m.Result)
			}
			f.answer(message{Message: jsonrpc.Message{ID: []byte("3")}}, `{"stopReason":"end_turn"}`)
		}()
		w := &agenttest.Watch{Answer: func(_ context.Context, ask agent.Ask) agent.Answer {
			time.Sleep(time.Hour)
			return ask.Choose(true)
		}}
		if _, err := s.Prompt(t.Context(), chat.Turn{}, []agent.Block{agent.Text("hi")}, w); err != nil {
			t.Error(err)
		}
	})
}

// A turn ends when its time is over, and the agent with it when it does not stop within the grace.
func TestPromptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Defaults()
		cfg.IdleTimeout.Enabled = false
		var log records
		a, made := faked(t, cfg, log.logger())
		s, f := openFake(t, a, made, "")
		defer s.Close()
		heard := make(chan string, 8)
		go func() {
			for m := f.next(); m.Method != ""; m = f.next() {
				heard <- m.Method
			}
			close(heard)
		}()
		began := time.Now()
		_, err := s.Prompt(t.Context(), chat.Turn{}, []agent.Block{agent.Text("hi")}, &agenttest.Watch{})
		if !errors.Is(err, chat.ErrTooLong) {
			t.Errorf("ended with %v", err)
		}
		if took, want := time.Since(began), ms(cfg.PromptTimeoutMs+cfg.CancelGraceMs); took != want {
			t.Errorf("ended after %s, want %s", took, want)
		}
		<-f.done
		if first, second := <-heard, <-heard; first != "session/prompt" || second != "session/cancel" {
			t.Errorf("it was sent %s, %s", first, second)
		}
		_ = s.Close()
		if n := len(log.at(slog.LevelWarn)); n != 1 {
			t.Errorf("the kill was logged %d times", n)
		}
	})
}

// BUG-D10: an agent that stops reading in the middle of a prompt. The prompt ends with its context and without a
// grace, and the agent counts as gone; so it does when nobody cancels.
func TestDeafAgent(t *testing.T) {
	for _, cancelled := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a, made := faked(t, Defaults(), quiet())
			s, f := openFake(t, a, made, "")
			defer s.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			began := time.Now()
			ended := make(chan error)
			go func() {
				_, err := prompt(ctx, s, &agenttest.Watch{}, strings.Repeat("x", 1<<20))
				ended <- err
			}()
			if _, err := f.in.ReadByte(); err != nil {
				t.Fatal(err)
			}
			want, limit := agent.ErrGone, writeTimeout
			if cancelled {
				cancel(chat.ErrStopped)
				want, limit = chat.ErrStopped, unsentGrace
			}
			if err := <-ended; !errors.Is(err, want) {
				t.Errorf("ended with %v, want %v", err, want)
			}
			if took := time.Since(began); took != limit {
				t.Errorf("ended after %s, want %s", took, limit)
			}
			if _, err := prompt(t.Context(), s, &agenttest.Watch{}, "go"); !errors.Is(err, agent.ErrGone) {
				t.Errorf("the next prompt ended with %v, want ErrGone", err)
			}
		})
	}
}
