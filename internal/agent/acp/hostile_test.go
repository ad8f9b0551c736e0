package acp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
)

// prompt runs a turn and returns how it ended.
func prompt(ctx context.Context, s agent.Session, w agent.Watcher, text string) (agent.Result, error) {
	return s.Prompt(ctx, turnOf("ann"), []agent.Block{agent.Text(text)}, w)
}

// until polls for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in a minute: %s", what)
		}
	}
}

// alive reports whether there is such a process, and it is no zombie of ours to be.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// What an agent may write, and a session must take: every mood of its output ends in the same words.
func TestMoodsOfOutput(t *testing.T) {
	say := script.Step{Say: "hello"}
	for name, s := range map[string]script.Script{
		"BUG-D06 noise glued to every line":  {Moods: script.Moods{Noise: "progress 50%"}, Turns: []script.Turn{{Steps: []script.Step{say}}}},
		"BUG-D07 byte order mark and CR LF":  {Moods: script.Moods{BOM: true, CRLF: true}, Turns: []script.Turn{{Steps: []script.Step{say}}}},
		"BUG-D25 ids as strings":             {Moods: script.Moods{IDs: "string"}, Turns: []script.Turn{{Steps: []script.Step{say}}}},
		"BUG-D25 ids as floats":              {Moods: script.Moods{IDs: "float"}, Turns: []script.Turn{{Steps: []script.Step{say}}}},
		"noise on lines of its own":          says(script.Step{Raw: "\x1b[31mloading\x1b[0m"}, script.Step{Raw: `{"half":`}, say),
		"a response to nothing":              says(script.Step{Raw: `{"jsonrpc":"2.0","id":77,"result":{"stopReason":"refusal"}}`}, say),
		"a response without a readable id":   says(script.Step{Raw: `{"jsonrpc":"2.0","id":{},"result":{}}`}, say),
		"AF-104 BUG-D13 an unknown update":   says(raw(`{"sessionUpdate":"news","content":{"type":"text","text":"WRONG"}}`), say),
		"an update that is none":             says(raw(`17`), say),
		"an update with nulls":               says(raw(`{"sessionUpdate":"tool_call","toolCallId":null,"title":null,"content":null}`), say),
		"an update for another session":      says(script.Step{Raw: `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"WRONG"}}}}`}, say),
		"unknown requests and notifications": says(script.Step{Raw: `{"jsonrpc":"2.0","id":"a","method":"craft/drain"}`}, script.Step{Raw: `{"jsonrpc":"2.0","method":"_x/y"}`}, say),
		"BUG-D13 a thought before the words": says(script.Step{Think: "WRONG"}, say),
	} {
		t.Run(name, func(t *testing.T) {
			w := ask(t, open(t, scripted(t, quick(), s, nil), opening("ann")), "go")
			if w.Said() != "hello" {
				t.Errorf("it said %q", w.Said())
			}
		})
	}
}

// raw is an update as it is.
func raw(update string) script.Step {
	return script.Step{Raw: `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"{{session}}","update":` + update + `}}`}
}

// BUG-D09 BUG-D12: an 11 MiB line, thousands of updates and the answer right behind them, with a watcher that
// begins only when all of it was written: nothing is lost, nothing overtakes, nothing closes.
func TestFlood(t *testing.T) {
	const count = 3000
	a := scripted(t, quick(), says(script.Step{Fill: 11 << 20}, script.Step{Say: "abc ", Times: count},
		script.Step{Plan: []string{"x"}}, script.Step{Say: "abc ", Times: count}, script.Step{Ask: script.AlwaysFirst()},
		script.Step{Say: "tail"}), nil)
	s := open(t, a, opening("ann"))
	w := &agenttest.Watch{}
	atAsk := 0
	w.Answer = func(_ context.Context, ask agent.Ask) agent.Answer {
		atAsk = len(w.Said())
		return ask.Choose(true)
	}
	first := true
	w.Each = func(agent.Update) {
		if first {
			first = false
			until(t, "the question waits behind everything", s.(*session).conn.box.asked)
		}
	}
	if _, err := prompt(t.Context(), s, w, "go"); err != nil {
		t.Fatal(err)
	}
	want := 11<<20 + 2*count*len("abc ")
	if said := w.Said(); len(said) != want+len("tail") || !strings.HasSuffix(said, "abc tail") {
		t.Errorf("%d bytes came, want %d", len(said), want+len("tail"))
	}
	if atAsk != want {
		t.Errorf("the permission request came after %d bytes, want all %d", atAsk, want)
	}
}

// BUG-D18: two stop reasons for one prompt do not end the next one.
func TestLateAnswer(t *testing.T) {
	a := scripted(t, quick(), script.Script{Moods: script.Moods{TwoAnswers: true}, Turns: []script.Turn{
		{On: "first", Steps: []script.Step{{Say: "waiting"}, {Wait: true}}}, {On: "second", Steps: []script.Step{{Say: "whole"}}}}}, nil)
	s := open(t, a, opening("ann"))
	ctx, cancel := context.WithCancel(t.Context())
	w := &agenttest.Watch{Each: func(agent.Update) { cancel() }}
	if _, err := prompt(ctx, s, w, "first"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w = &agenttest.Watch{}
	if r, err := prompt(t.Context(), s, w, "second"); err != nil || r.Stop != agent.EndTurn || w.Said() != "whole" {
		t.Errorf("%v, %v, said %q", r, err, w.Said())
	}
}

// AF-100: an agent that dies in a call ends that call at once, with one line at ERROR.
func TestDeath(t *testing.T) {
	models := []byte(`{"models":{"availableModels":[{"modelId":"m1"},{"modelId":"m2"}],"currentModelId":"m1"}}`)
	for _, method := range []string{"initialize", "session/new", "session/set_model", "session/prompt"} {
		t.Run(method, func(t *testing.T) {
			var log records
			cfg := quick()
			cfg.Model, cfg.ConnectTimeoutMs, cfg.PromptTimeoutMs = "m2", 600_000, 600_000
			a := scripted(t, cfg, script.Script{Moods: script.Moods{Die: method, New: models}}, func(d *Deps) { d.Log = log.logger() })
			s, err := a.Open(t.Context(), opening("ann"))
			if err == nil {
				_, err = prompt(t.Context(), s, &agenttest.Watch{}, "go")
				defer s.Close()
			}
			if !errors.Is(err, agent.ErrGone) {
				t.Errorf("ended with %v, want ErrGone", err)
			}
			until(t, "the end is logged", func() bool { return len(log.at(slog.LevelError)) > 0 })
			if lines := log.at(slog.LevelError); len(lines) != 1 || !strings.Contains(lines[0], "exit status 3") {
				t.Errorf("logged at ERROR: %q", lines)
			}
		})
	}
}

// AF-101: we end the session while a prompt is pending.
func TestCloseIsNoCrash(t *testing.T) {
	var log records
	a := scripted(t, quick(), says(script.Step{Say: "waiting"}, script.Step{Wait: true}), func(d *Deps) { d.Log = log.logger() })
	s := open(t, a, opening("ann"))
	w := &agenttest.Watch{Each: func(agent.Update) { go s.Close() }}
	if _, err := prompt(t.Context(), s, w, "go"); !errors.Is(err, agent.ErrGone) {
		t.Errorf("ended with %v, want ErrGone", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if lines := append(log.at(slog.LevelError), log.at(slog.LevelWarn)...); len(lines) != 0 {
		t.Errorf("logged: %q", lines)
	}
}

// AF-95: a crash leaves the other session alone.
func TestCrashIsAlone(t *testing.T) {
	a := scripted(t, quick(), script.Script{Turns: []script.Turn{
		{On: "die", Steps: []script.Step{{Panic: "now"}}},
		{On: "wait", Steps: []script.Step{{Say: "waiting"}, {Ask: script.AlwaysFirst()}, {Say: "done"}}}}}, nil)
	ann, bob := open(t, a, opening("ann")), open(t, a, opening("bob"))
	w := &agenttest.Watch{Answer: func(ctx context.Context, ask agent.Ask) agent.Answer {
		if _, err := prompt(ctx, bob, &agenttest.Watch{}, "die"); !errors.Is(err, agent.ErrGone) {
			t.Errorf("the crash ended with %v", err)
		}
		return ask.Choose(true)
	}}
	if _, err := prompt(t.Context(), ann, w, "wait"); err != nil || w.Said() != "waitingdone" {
		t.Errorf("the other session said %q, error %v", w.Said(), err)
	}
}

// BUG-G01 BUG-G03 BUG-G13: a grandchild that left the group and holds the output is gone with the session, does
// not keep a dead agent's prompt, and an agent is not in our process group.
func TestNothingIsLeft(t *testing.T) {
	a := scripted(t, quick(), script.Script{Turns: []script.Turn{{On: "stay", Steps: []script.Step{{Sleep: 300}}},
		{On: "die", Steps: []script.Step{{Sleep: 300}, {Panic: "now"}}}}}, nil)
	for _, how := range []string{"stay", "die"} {
		s := open(t, a, opening("ann"))
		var us int
		if _, err := fmt.Sscanf(s.ID(), "s%d-", &us); err != nil {
			t.Fatal(err)
		}
		if group, err := syscall.Getpgid(us); err != nil || group == syscall.Getpgrp() {
			t.Errorf("the agent is in group %d, error %v", group, err)
		}
		w := &agenttest.Watch{}
		if _, err := prompt(t.Context(), s, w, how); (how == "die") != errors.Is(err, agent.ErrGone) {
			t.Errorf("%s: ended with %v", how, err)
		}
		child, err := strconv.Atoi(w.Said())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if alive(us) || alive(child) {
			t.Errorf("%s: the agent lives: %t, its grandchild: %t", how, alive(us), alive(child))
		}
	}
}

// An agent that ignores the cancel, and one that ignores the end of its input, are ended all the same.
func TestStubborn(t *testing.T) {
	cfg := quick()
	cfg.CancelGraceMs = 50
	a := scripted(t, cfg, script.Script{Moods: script.Moods{IgnoreCancel: true, IgnoreEOF: true}, Turns: []script.Turn{
		{Steps: []script.Step{{Say: "waiting"}, {Wait: true}}}}}, nil)
	s := open(t, a, opening("ann"))
	ctx, cancel := context.WithCancelCause(t.Context())
	w := &agenttest.Watch{Each: func(agent.Update) { cancel(chat.ErrStopped) }}
	if _, err := prompt(ctx, s, w, "go"); !errors.Is(err, chat.ErrStopped) {
		t.Errorf("ended with %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
