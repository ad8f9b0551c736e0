package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/chat"
	"familiar/internal/workspace"
)

// openEarlier opens with o while play answers what comes after initialize, which announces the capabilities.
func openEarlier(t *testing.T, log *slog.Logger, o agent.Opening, caps string, play func(f *fake)) (agent.Session, *fake) {
	t.Helper()
	a, made := faked(t, quick(), log)
	played := make(chan *fake)
	go func() {
		f := <-made
		f.answer(f.next(), `{"protocolVersion":1,"agentCapabilities":`+caps+`}`)
		play(f)
		played <- f
	}()
	s, err := a.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s, <-played
}

// BUG-D01 BUG-D03 BUG-D24: what an agent tells again, before the answer to session/load, after it, and however long,
// is nobody's. The first words that are seen are those that answer the prompt.
func TestReplayIsNotSeen(t *testing.T) {
	for name, c := range map[string]struct {
		caps, method  string
		before, after int
	}{
		"load":                    {`{"loadSession":true}`, "session/load", 600, 0},
		"load, and more later":    {`{"loadSession":true}`, "session/load", 10, 300},
		"resume that tells again": {`{"loadSession":true,"sessionCapabilities":{"resume":{}}}`, "session/resume", 5, 5},
		"load that tells nothing": {`{"loadSession":true}`, "session/load", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := opening("ann")
			o.Resume = "s1"
			s, f := openEarlier(t, quiet(), o, c.caps, func(f *fake) {
				m := f.next()
				if m.Method != c.method || !strings.Contains(string(m.Params), `"sessionId":"s1"`) {
					t.Errorf("sent %s %s", m.Method, m.Params)
				}
				for range c.before {
					f.chunk("old")
				}
				f.answer(m, `{}`)
				for range c.after {
					f.chunk("older")
				}
				f.line(`{"jsonrpc":"2.0","id":99,"method":"x/y"}`)
				f.next() // its answer: everything before has been read
			})
			defer s.Close()
			if s.ID() != "s1" || !s.Can().Load {
				t.Errorf("the session is %q, can %+v", s.ID(), s.Can())
			}
			go func() {
				m := f.next()
				f.chunk("new")
				f.answer(m, `{"stopReason":"end_turn"}`)
				for f.next().Method != "" {
				}
			}()
			w := &agenttest.Watch{}
			if _, err := s.Prompt(t.Context(), chat.Turn{}, []agent.Block{agent.Text("hi")}, w); err != nil {
				t.Fatal(err)
			}
			if w.Said() != "new" {
				t.Errorf("seen: %q", w.Said())
			}
		})
	}
}

// BUG-D04: what came before the turn's prompt was begun is no part of the turn, also when it is looked at later.
func TestEraOfAnUpdate(t *testing.T) {
	a, made := faked(t, quick(), quiet())
	opened, f := openFake(t, a, made, "")
	defer opened.Close()
	go func() {
		for f.next().Method != "" {
		}
	}()
	s := opened.(*session)
	w := &agenttest.Watch{}
	_, over, err := s.enterTurn(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	defer s.leaveTurn()
	defer over()
	era := s.conn.era.Load()
	s.saw(agent.Message{Text: "old"}, era)
	if got := s.decide(t.Context(), agent.Ask{Options: []agent.Option{{ID: "yes", Kind: agent.AllowOnce}}}, era); got.Option != "" {
		t.Errorf("an old question was answered with %q", got.Option)
	}
	s.saw(agent.Message{Text: "new"}, era+1)
	if w.Said() != "new" || len(w.Asks()) != 0 {
		t.Errorf("seen: %q, asked %d times", w.Said(), len(w.Asks()))
	}
}

// BUG-D22: whatever an agent answers to an earlier session's name, a new session is there, and that is said once.
func TestEarlierSessionIsGone(t *testing.T) {
	fails := func(f *fake, m message) {
		f.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Invalid session identifier"}}`, m.ID)
	}
	for name, c := range map[string]struct {
		caps string
		fork bool
		fail func(f *fake, m message) // nil when the agent is not even asked
	}{
		"an error":                        {`{"loadSession":true}`, false, fails},
		"no way to go on":                 {`{}`, false, nil},
		"no way to copy":                  {`{"loadSession":true}`, true, nil},
		"a copy that is the same":         {`{"sessionCapabilities":{"fork":{}}}`, true, func(f *fake, m message) { f.answer(m, `{"sessionId":"s0"}`) }},
		"an answer that cannot be read":   {`{"loadSession":true}`, false, func(f *fake, m message) { f.answer(m, `7`) }},
		"an error after it began to tell": {`{"loadSession":true}`, false, func(f *fake, m message) { f.chunk("old"); fails(f, m) }},
	} {
		t.Run(name, func(t *testing.T) {
			var log records
			o := opening("ann")
			o.Resume, o.Fork = "s0", c.fork
			s, f := openEarlier(t, log.logger(), o, c.caps, func(f *fake) {
				if c.fail != nil {
					c.fail(f, f.next())
				}
				m := f.next()
				if m.Method != "session/new" {
					t.Errorf("sent %s", m.Method)
				}
				f.answer(m, `{"sessionId":"s1"}`)
			})
			defer s.Close()
			defer f.exit(nil)
			warned := log.at(slog.LevelWarn)
			if s.ID() != "s1" || len(warned) != 1 || !strings.Contains(warned[0], "starting afresh") {
				t.Errorf("the session is %q, said %q", s.ID(), warned)
			}
		})
	}
}

// A copy of an earlier session has a name of its own, and the conversation is closed before the process is ended.
func TestForkAndClose(t *testing.T) {
	o := opening("ann")
	o.Resume, o.Fork = "s0", true
	s, f := openEarlier(t, quiet(), o, `{"sessionCapabilities":{"fork":{},"close":{},"resume":{}}}`, func(f *fake) {
		m := f.next()
		f.chunk("old")
		if m.Method != "session/fork" {
			t.Errorf("sent %s", m.Method)
		}
		f.answer(m, `{"sessionId":"s1"}`)
	})
	if s.ID() != "s1" {
		t.Errorf("the session is %q", s.ID())
	}
	sent := make(chan string, 1)
	go func() { m := f.next(); sent <- m.Method; f.answer(m, `{}`) }()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := <-sent; got != "session/close" {
		t.Errorf("sent %q", got)
	}
}

func TestSessions(t *testing.T) {
	a, made := faked(t, quick(), quiet())
	defer gone(t, a)
	go func() {
		f := <-made
		f.answer(f.next(), `{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"list":{}}}}`)
		for page := 1; ; page++ {
			m := f.next()
			if m.Method != "session/list" {
				return
			}
			next := ""
			if page == 1 {
				next = `,"nextCursor":"more"`
			}
			f.answer(m, fmt.Sprintf(`{"sessions":[{"sessionId":"s%d","cwd":"/","title":"T"}]%s}`, page, next))
		}
	}()
	got, err := a.Sessions(t.Context(), workspace.Ref{Platform: "web", User: "ann", Session: "sess_list"})
	if err != nil || len(got) != 2 || got[0] != (Earlier{ID: "s1", Title: "T"}) || got[1].ID != "s2" {
		t.Errorf("%+v, %v", got, err)
	}
	if a.Living() != 0 {
		t.Error("the process that listed is left")
	}
}

// An agent that asks before it shows what for: the watcher sees the call first, whatever the agent shows later.
func TestAsksBeforeItShows(t *testing.T) {
	a, made := faked(t, quick(), quiet())
	s, f := openFake(t, a, made, "")
	defer s.Close()
	go func() {
		m := f.next()
		f.line(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1",` +
			`"toolCall":{"toolCallId":"c1","title":"ls","kind":"execute"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}`)
		f.next()
		f.line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}}}`)
		f.answer(m, `{"stopReason":"end_turn"}`)
		for f.next().Method != "" {
		}
	}()
	var order []string
	w := &agenttest.Watch{Answer: agenttest.Allow, Each: func(u agent.Update) { order = append(order, string(u.(agent.ToolCall).Status)) }}
	if _, err := s.Prompt(t.Context(), chat.Turn{}, []agent.Block{agent.Text("hi")}, w); err != nil {
		t.Fatal(err)
	}
	if call, _ := w.Call("c1"); strings.Join(order, " ") != "pending completed" || call.Title != "ls" {
		t.Errorf("seen: %q, %+v", order, call)
	}
}

// An agent's own warning about itself is not what it says; what goes wrong is found where its profile says.
func TestWarningsAndErrors(t *testing.T) {
	a, made := faked(t, quick(), quiet())
	a.profile.Warnings, a.profile.ErrorIn = []string{"Warning:"}, []string{"details"}
	s, f := openFake(t, a, made, "")
	defer s.Close()
	go func() {
		m := f.next()
		f.chunk("Warning: unknown model\n")
		f.chunk("hello, ")
		f.chunk("Warning: wet floor")
		f.answer(m, `{"stopReason":"end_turn"}`)
		data, _ := json.Marshal(map[string]string{"details": "the model is asleep", "request": "what was said"})
		f.line(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Internal error","data":%s}}`, f.next().ID, data)
		for f.next().Method != "" {
		}
	}()
	w := &agenttest.Watch{}
	prompt := func() error {
		_, err := s.Prompt(t.Context(), chat.Turn{}, []agent.Block{agent.Text("hi")}, w)
		return err
	}
	if err := prompt(); err != nil || w.Said() != "hello, Warning: wet floor" {
		t.Errorf("said %q, %v", w.Said(), err)
	}
	if err := prompt(); err == nil || !strings.Contains(err.Error(), "the model is asleep") || strings.Contains(err.Error(), "what was said") {
		t.Errorf("failed with %v", err)
	}
}

// An agent that is lost when a turn is cancelled while it asks has only its profile's time to end it.
func TestLostWhenCancelled(t *testing.T) {
	cfg := quick()
	cfg.CancelGraceMs = int(time.Hour / time.Millisecond)
	a, made := faked(t, cfg, quiet())
	a.profile.LostWhenCancelled = time.Millisecond
	s, f := openFake(t, a, made, "")
	defer s.Close()
	go func() {
		f.next()
		f.line(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1",` +
			`"toolCall":{"toolCallId":"c1","title":"ls"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}`)
		for f.next().Method != "" {
		}
	}()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w := &agenttest.Watch{Answer: func(asked context.Context, ask agent.Ask) agent.Answer {
		stop()
		<-asked.Done()
		return ask.Choose(true)
	}}
	if _, err := s.Prompt(ctx, chat.Turn{}, []agent.Block{agent.Text("hi")}, w); err == nil {
		t.Error("a cancelled turn ended well")
	}
	<-f.done
}

// BUG-D21: an agent that never answers to an earlier session's name loses that, and not its own start: loading has a
// time of its own.
func TestSilentLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, made := faked(t, Defaults(), quiet())
		go func() {
			f := <-made
			f.answer(f.next(), `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`)
			if m := f.next(); m.Method != "session/load" {
				t.Errorf("sent %s", m.Method)
			}
			f.answer(f.next(), `{"sessionId":"s1"}`)
			for f.next().Method != "" {
			}
		}()
		o := opening("ann")
		o.Resume = "s0"
		began := time.Now()
		s, err := a.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if limit := ms(Defaults().ConnectTimeoutMs); s.ID() != "s1" || time.Since(began).Round(time.Second) != limit {
			t.Errorf("the session is %q after %s, want a new one after %s", s.ID(), time.Since(began), limit)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An agent that dies while it loads ends the opening at once.
func TestDiesWhileItLoads(t *testing.T) {
	a, made := faked(t, quick(), quiet())
	go func() {
		f := <-made
		f.answer(f.next(), `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`)
		f.next()
		f.exit(errors.New("exit status 1"))
	}()
	o := opening("ann")
	o.Resume = "s0"
	if _, err := a.Open(t.Context(), o); !errors.Is(err, agent.ErrGone) {
		t.Errorf("opened with %v, want ErrGone", err)
	}
	if a.Living() != 0 {
		t.Error("the agent lives")
	}
}
