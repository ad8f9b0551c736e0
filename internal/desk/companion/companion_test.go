package companion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/agent"
	"familiar/internal/agent/script"
	"familiar/internal/audit"
	"familiar/internal/briefing"
	"familiar/internal/chat"
	"familiar/internal/outbox"
	"familiar/internal/permission"
	"familiar/internal/platform"
	"familiar/internal/sqlite"
	"familiar/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// network is a platform that remembers what reached it.
type network struct {
	platform.Source
	mu  sync.Mutex
	got []string
}

func (n *network) Abilities() chat.Abilities { return chat.Abilities{React: true, Progress: true} }

func (n *network) Do(_ context.Context, a chat.Action) (chat.Receipt, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch a := a.(type) {
	case chat.Say:
		n.got = append(n.got, "say "+a.Text)
	case chat.React:
		n.got = append(n.got, "react "+a.Emoji)
	case chat.Show:
		n.got = append(n.got, strings.TrimSpace(fmt.Sprint(a.Progress.Stage, " ", a.Progress.Tool)))
	}
	return chat.Receipt{Message: "m", At: time.Now()}, nil
}

func (n *network) reached() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.got, ", ")
}

// watched is an agent that remembers which prompts each of its sessions got.
type watched struct {
	agent.Agent
	mu      sync.Mutex
	prompts []string // "session: kind of prompt"
	closed  int
	modes   []string
}

type watchedSession struct {
	agent.Session
	of *watched
}

func (w *watched) Open(ctx context.Context, o agent.Opening) (agent.Session, error) {
	w.mu.Lock()
	w.modes = append(w.modes, o.Mode)
	w.mu.Unlock()
	s, err := w.Agent.Open(ctx, o)
	return watchedSession{s, w}, err
}

func (s watchedSession) Prompt(ctx context.Context, t chat.Turn, blocks []agent.Block, w agent.Watcher) (agent.Result, error) {
	s.of.mu.Lock()
	s.of.prompts = append(s.of.prompts, s.ID())
	s.of.mu.Unlock()
	return s.Session.Prompt(ctx, t, blocks, w)
}

func (s watchedSession) Close() error {
	s.of.mu.Lock()
	s.of.closed++
	s.of.mu.Unlock()
	return s.Session.Close()
}

type rig struct {
	*Desk
	net   *network
	agent *watched
	yolo  bool
}

func open(t *testing.T, turns ...script.Turn) *rig {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	log := slog.New(slog.DiscardHandler)
	r := &rig{net: &network{}, agent: &watched{Agent: script.New(script.Script{Turns: turns})}}
	out, err := outbox.Open(t.Context(), outbox.Defaults(), outbox.Deps{DB: db, Now: time.Now, Log: log,
		Platforms: map[string]platform.Platform{"net": r.net}})
	if err != nil {
		t.Fatal(err)
	}
	r.Desk = New(Deps{
		Agent: r.agent, Model: func(chat.SessionType, chat.Event) string { return "m-1" }, Box: tool.NewBox(nil, out.Tools()...), Tools: []string{"send-reply", "react-message"},
		Briefer: briefing.New(briefing.Defaults(), briefing.Bot{Name: "Familiar", Language: "en"}, log),
		Now:     time.Now, Log: log, Audit: audit.New(audit.Defaults(), audit.Options{Log: log}),
		Policy: func(chat.Turn, string, bool) permission.Policy { return permission.Policy{Yolo: r.yolo} },
		Yolo:   func(chat.Event) (bool, string) { return r.yolo, "none" },
		Deeds:  out.Deeds, Limited: func(chat.Event) bool { return false },
		Show: func(ctx context.Context, t chat.Turn, p chat.Progress) {
			_, _ = out.Do(ctx, t, chat.Show{Place: t.Place, Progress: p})
		},
	})
	return r
}

func turn() chat.Turn {
	ev := chat.Event{ID: "e", At: time.Now(), Message: "q", Place: chat.Place{Platform: "net", ID: "here", Kind: chat.Direct},
		From: chat.Person{Platform: "net", ID: "ann", Name: "Ann"}, Body: chat.Said{Text: "hello"}}
	return chat.NewTurn(chat.Talk, ev, chat.Owner, time.Now())
}

func reply(text string) script.Step {
	return script.Step{Call: "send-reply", Args: json.RawMessage(fmt.Sprintf(`{"message":%q}`, text))}
}

func steps(s ...script.Step) script.Turn { return script.Turn{Steps: s} }

func TestTurns(t *testing.T) {
	say := script.Step{Say: "words that nobody may hear"}
	react := script.Step{Call: "react-message", Args: json.RawMessage(`{"emoji":"👍"}`)}
	cases := []struct {
		name    string
		turns   []script.Turn
		reached string
		prompts int
		err     string
	}{
		{"AF-94 only the tool speaks", []script.Turn{steps(say, reply("hi"), say)}, "say hi", 1, ""},
		{"AF-90 one more prompt for a turn without a reply", []script.Turn{steps(say), steps(reply("hi after all"))}, "say hi after all", 2, ""},
		{"AF-91 and no third", []script.Turn{steps(say), steps(say), steps(reply("too late"))}, "", 2, ErrSilent.Error()},
		{"AF-92 a reaction is an answer", []script.Turn{steps(react)}, "react 👍", 1, ""},
		{"AF-93 cancelled", []script.Turn{steps(script.Step{End: agent.Cancelled})}, "", 1, "cancelled"},
		{"AF-93 refusal", []script.Turn{steps(script.Step{End: agent.Refusal})}, "", 1, agent.ErrRefused.Error()},
		{"an answer before the end counts", []script.Turn{steps(reply("hi"), script.Step{End: agent.MaxTokens})}, "say hi", 1, ""},
		{"an answer before a crash counts", []script.Turn{steps(reply("hi"), script.Step{Fail: "gone"})}, "say hi", 1, ""},
		{"a crash without an answer", []script.Turn{steps(script.Step{Fail: "gone"})}, "", 1, "gone"},
		{"a second reply is refused", []script.Turn{steps(reply("one"), reply("two"))}, "say one", 1, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := open(t, c.turns...)
			res, err := r.Attend(t.Context(), turn())
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatal(err)
			}
			spoken := slices.DeleteFunc(strings.Split(r.net.reached(), ", "), func(s string) bool { return strings.HasPrefix(s, "action") })
			if got := strings.Join(spoken, ", "); got != c.reached {
				t.Fatal(got)
			}
			if len(r.agent.prompts) != c.prompts || len(slices.Compact(r.agent.prompts)) != 1 || r.agent.closed != 1 {
				t.Fatal("prompts", r.agent.prompts, "closed", r.agent.closed)
			}
			if res.Replied != (c.reached != "") || res.Retried != (c.prompts > 1) || res.Session == "" {
				t.Fatalf("%+v", res)
			}
		})
	}
}

func TestToolsAreShownByNameAlone(t *testing.T) {
	r := open(t, steps(reply("my secret words")))
	if _, err := r.Attend(t.Context(), turn()); err != nil {
		t.Fatal(err)
	}
	if got := r.net.reached(); got != "actions.requested send-reply, say my secret words, action.result send-reply" {
		t.Fatal(got)
	}
}

func TestPermissions(t *testing.T) {
	ask := script.Step{Ask: &agent.Ask{Call: "1", Title: "rm -rf /", Kind: agent.KindExecute, RawInput: []byte(`{"command":"rm -rf /"}`),
		Options: []agent.Option{{ID: "a", Kind: agent.AllowAlways}, {ID: "b", Kind: agent.AllowOnce}, {ID: "c", Kind: agent.RejectOnce}}}}
	for _, yolo := range []bool{false, true} {
		r := open(t, steps(ask, reply("done")))
		r.yolo = yolo
		if _, err := r.Attend(t.Context(), turn()); err != nil {
			t.Fatal(err)
		}
		got := r.net.reached()
		if strings.Contains(got, "rm -rf") || !strings.Contains(got, "execute") {
			t.Fatal("what is shown:", got)
		}
		if mode := r.agent.modes[0]; (mode == "yolo") != yolo {
			t.Fatal("mode", mode)
		}
	}
}

func TestAnAgentThatLoopsIsEnded(t *testing.T) {
	r := open(t, steps(reply(" "), reply(" "), reply(" "), reply(" "), script.Step{Wait: true}))
	if _, err := r.Attend(t.Context(), turn()); !errors.Is(err, errLoop) {
		t.Fatal(err)
	}
}

func TestAStopEndsTheTurn(t *testing.T) {
	r := open(t, steps(script.Step{Say: "thinking"}, script.Step{Wait: true}))
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() { _, err := r.Attend(ctx, turn()); ended <- err }()
	cancel(chat.ErrStopped)
	if err := <-ended; !errors.Is(err, chat.ErrStopped) || r.agent.closed > 1 {
		t.Fatal(err, r.agent.closed)
	}
}

func TestOnePersonWaitsBehindThemselvesOnly(t *testing.T) {
	r := open(t)
	ev := func(place, who string) chat.RoomKey {
		return r.Room(chat.Event{Place: chat.Place{Platform: "net", ID: place}, From: chat.Person{ID: who}})
	}
	here := ev("a", "ann")
	if again := ev("a", "ann"); here != again || here == ev("a", "ben") || here == ev("b", "ann") {
		t.Fatal("rooms")
	}
}
