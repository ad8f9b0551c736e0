package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
)

// turnOn runs a turn on a fake: the test sends what the agent would, between the prompt and its answer.
func turnOn(t *testing.T, w agent.Watcher, play func(f *fake)) {
	t.Helper()
	a, made := faked(t, quick(), quiet())
	s, f := openFake(t, a, made, "")
	defer s.Close()
	played := make(chan struct{})
	go func() {
		defer close(played)
		m := f.next()
		play(f)
		f.answer(m, `{"stopReason":"end_turn"}`)
	}()
	if _, err := prompt(t.Context(), s, w, "go"); err != nil {
		t.Error(err)
	}
	<-played
}

// What is asked of us is answered under the id that it came with, and with the code that it deserves.
func TestAnswers(t *testing.T) {
	turnOn(t, &agenttest.Watch{}, func(f *fake) {
		for _, c := range []struct {
			id, method, params string
			code               int
		}{
			{`"q1"`, "craft/drainMidTurnQueue", `{}`, codeUnknown},
			{`1.50`, "_vendor/x", `null`, codeUnknown},
			{`0`, "terminal/create", `{"sessionId":"s1","command":"sh"}`, codeUnknown},
			{`7`, "session/request_permission", `[]`, codeParams},
			{`8`, "session/request_permission", `{"sessionId":"other","options":[],"toolCall":{"toolCallId":"c"}}`, codeParams},
			{`9`, "fs/read_text_file", `{"sessionId":"s1","path":"/etc/passwd"}`, codeRefused},
			{`10`, "fs/read_text_file", `{"sessionId":"s1"}`, codeParams},
			{`11`, "fs/write_text_file", `{"sessionId":"s1","path":"/tmp/x.md","content":"x"}`, codeRefused},
		} {
			f.line(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, c.id, c.method, c.params)
			m := f.next()
			if string(m.ID) != c.id || m.Error == nil || m.Error.Code != c.code {
				t.Errorf("%s: answered %s with %v, want code %d", c.method, m.ID, m.Error, c.code)
			}
		}
	})
}

// permissionFor is a permission request with the options in that order, each "id:kind".
func permissionFor(options string) string {
	var list []string
	for _, o := range strings.Fields(options) {
		id, kind, _ := strings.Cut(o, ":")
		list = append(list, fmt.Sprintf(`{"optionId":%q,"name":%q,"kind":%q}`, id, id, kind))
	}
	return `{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s1","options":[` +
		strings.Join(list, ",") + `],"toolCall":{"toolCallId":"c1","title":"t","kind":"edit","locations":[{"path":"/a"}],"rawInput":{"x":1}}}}`
}

// BUG-E01 AF-113: an option is chosen by its kind, wherever it stands; what the agent does not offer is «cancelled».
func TestPermission(t *testing.T) {
	choose := func(allow bool) func(context.Context, agent.Ask) agent.Answer {
		return func(_ context.Context, ask agent.Ask) agent.Answer { return ask.Choose(allow) }
	}
	for _, c := range []struct {
		options string
		answer  func(context.Context, agent.Ask) agent.Answer
		want    string
	}{
		{"a:allow_always b:allow_once c:reject_once", choose(true), `{"optionId":"b","outcome":"selected"}`},
		{"a:allow_always b:allow_once c:reject_always d:reject_once", choose(false), `{"optionId":"d","outcome":"selected"}`},
		{"a:allow_always b:allow_once", choose(false), `{"outcome":"cancelled"}`},
		{"c:reject_once", choose(true), `{"outcome":"cancelled"}`},
		{"", choose(true), `{"outcome":"cancelled"}`},
		{"a:allow_once", func(context.Context, agent.Ask) agent.Answer { return agent.Answer{Option: "made up"} }, `{"outcome":"cancelled"}`},
	} {
		w := &agenttest.Watch{Answer: c.answer}
		turnOn(t, w, func(f *fake) {
			f.line("%s", permissionFor(c.options))
			m := f.next()
			var got struct{ Outcome json.RawMessage }
			if err := json.Unmarshal(m.Result, &got); err != nil || string(got.Outcome) != c.want {
				t.Errorf("%q: answered %s, want %s", c.options, m.Result, c.want)
			}
		})
		asks := w.Asks()
		if len(asks) != 1 || asks[0].Kind != agent.KindEdit || len(asks[0].Paths) != 1 || asks[0].Paths[0] != "/a" ||
			string(asks[0].RawInput) != `{"x":1}` {
			t.Errorf("asked %+v", asks)
		}
	}
}

// A panic in what serves the agent is answered and logged; the turn goes on.
func TestPanics(t *testing.T) {
	first := true
	w := &agenttest.Watch{
		Answer: func(context.Context, agent.Ask) agent.Answer { panic("answering") },
		Each: func(agent.Update) {
			if first {
				first = false
				panic("watching")
			}
		},
	}
	turnOn(t, w, func(f *fake) {
		f.chunk("one")
		f.line("%s", permissionFor("a:allow_once"))
		if m := f.next(); m.Error == nil || m.Error.Code != codeInternal {
			t.Errorf("answered %s, error %v", m.Result, m.Error)
		}
		f.chunk("two")
	})
	if w.Said() != "onetwo" {
		t.Errorf("it said %q", w.Said())
	}
}

// The agent ends its turn without waiting for the permission that it asked for: the question ends too.
func TestTurnEndsWhileAsking(t *testing.T) {
	asked := make(chan struct{})
	w := &agenttest.Watch{Answer: func(ctx context.Context, ask agent.Ask) agent.Answer {
		close(asked)
		<-ctx.Done()
		return ask.Choose(true)
	}}
	a, made := faked(t, quick(), quiet())
	s, f := openFake(t, a, made, "")
	defer s.Close()
	ended := make(chan error)
	go func() { _, err := prompt(t.Context(), s, w, "go"); ended <- err }()
	m := f.next()
	f.line("%s", permissionFor("a:allow_once"))
	<-asked
	f.answer(m, `{"stopReason":"end_turn"}`)
	if m := f.next(); !strings.Contains(string(m.Result), "cancelled") {
		t.Errorf("the question was answered with %s", m.Result)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Outside a turn nothing is asked of anybody.
func TestPermissionOutsideTurn(t *testing.T) {
	a, made := faked(t, quick(), quiet())
	s, f := openFake(t, a, made, "")
	defer s.Close()
	f.line("%s", permissionFor("a:allow_once"))
	if m := f.next(); !strings.Contains(string(m.Result), "cancelled") {
		t.Errorf("answered %s", m.Result)
	}
}

// BUG-A21: an update about the session that says nothing shows nothing, and what the agent failed with is the error.
func TestNothingIsShownOfAnEmptyUpdate(t *testing.T) {
	a, made := faked(t, quick(), quiet())
	s, f := openFake(t, a, made, "")
	defer s.Close()
	go func() {
		m := f.next()
		f.line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` +
			`{"sessionUpdate":"session_info_update","updatedAt":"2026-03-01T00:00:00Z"}}}`)
		f.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"HTTP 402: no credits left"}}`, m.ID)
		for f.next().Method != "" {
		}
	}()
	w := &agenttest.Watch{}
	if _, err := prompt(t.Context(), s, w, "go"); err == nil || !strings.Contains(err.Error(), "HTTP 402: no credits left") {
		t.Errorf("failed with %v", err)
	}
	if saw := w.Updates(); len(saw) != 0 {
		t.Errorf("seen: %+v", saw)
	}
}
