package console

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"familiar/internal/chat"
	"familiar/internal/console/consoletest"
	"familiar/internal/platform/web"
	"familiar/internal/sqlite"
)

// rig is a browser on the page, with the web platform behind it and the test in the place of everything else.
type rig struct {
	*consoletest.Page
	t    *testing.T
	path string
	addr string
	web  *web.Web
	end  func()

	heard chan chat.Event

	mu      sync.Mutex
	state   State
	hears   chat.Outcome
	stopped int
	out     bool // not logged in
}

var commands = []Command{
	{"/help", "", "Show what can be done here"}, {"/remember", "TEXT", "Keep a memory"},
	{"/recall", "WORDS", "Search the memories"}, {"/memories", "", "List what is remembered"},
	{"/forget", "ID", "Turn a memory off"}, {"/clear", "", "Start afresh: earlier talk is not looked at"},
	{"/stop", "", "End the running turn"}, {"/status", "", "Show how this bot is doing"},
}

func ready() State {
	return State{Bot: Bot{ID: "mochi", Name: "Mochi", Language: "en", Desk: "companion"},
		Agent: Agent{Name: "OpenCode", Provider: "Anthropic", Model: "claude-sonnet-4-5", Ready: true}, Commands: commands}
}

func newRig(t *testing.T, state State) *rig {
	t.Helper()
	r := &rig{Page: consoletest.Watch(t, consoletest.Chromium(t)), t: t, path: filepath.Join(t.TempDir(), "web.db"), addr: "127.0.0.1:0",
		heard: make(chan chat.Event, 100), state: state, hears: chat.Accepted}
	r.start()
	t.Cleanup(func() { r.end() })
	return r
}

// start runs the server; a second time on the same address and data.
func (r *rig) start() {
	r.t.Helper()
	db, err := sqlite.Open(r.t.Context(), r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	closing := make(chan struct{})
	r.web, err = web.New(r.t.Context(), db, web.Defaults(), web.Deps{Log: slog.New(slog.DiscardHandler), Closing: closing,
		ViaPage: func(*http.Request) bool { return true },
		Stop:    func(context.Context, chat.Place) bool { r.change(func() { r.stopped++ }); return true }})
	if err != nil {
		r.t.Fatal(err)
	}
	mux := http.NewServeMux()
	r.web.Routes(mux)
	people(mux)
	notes(mux)
	New(Options{State: func() (s State) { r.change(func() { s = r.state }); return s },
		LoggedIn: func(*http.Request) (in bool) { r.change(func() { in = !r.out }); return in }}).Routes(mux)
	listener, err := (&net.ListenConfig{}).Listen(r.t.Context(), "tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.addr = listener.Addr().String()
	server := httptest.NewUnstartedServer(mux)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	ctx, cancel := context.WithCancel(r.t.Context())
	up, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- r.web.Run(ctx, r.hear, func() { close(up) }) }()
	<-up
	r.end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			r.t.Error(err)
		}
		close(closing)
		server.CloseClientConnections()
		server.Close()
		if err := db.Close(); err != nil {
			r.t.Error(err)
		}
	})
}

func (r *rig) change(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

func (r *rig) hear(_ context.Context, ev chat.Event) (outcome chat.Outcome) {
	r.change(func() { outcome = r.hears })
	if outcome == chat.Accepted {
		r.heard <- ev
	}
	return outcome
}

// next waits for a message and checks its words.
func (r *rig) next(text string) chat.Event {
	r.t.Helper()
	select {
	case ev := <-r.heard:
		if ev.Text() != text {
			r.t.Fatalf("heard %q, want %q", ev.Text(), text)
		}
		return ev
	case <-time.After(30 * time.Second):
		r.t.Fatalf("%q was never heard", text)
	}
	return chat.Event{}
}

func (r *rig) do(a chat.Action) chat.Receipt {
	r.t.Helper()
	receipt, err := r.web.Do(r.t.Context(), a)
	if err != nil {
		r.t.Fatal(err)
	}
	return receipt
}

func (r *rig) show(ev chat.Event, stage chat.Stage, tool string) {
	r.t.Helper()
	r.do(chat.Show{Place: ev.Place, Turn: "turn_" + chat.TurnID(ev.Message),
		Progress: chat.Progress{Stage: stage, Tool: tool, OK: true}})
}

func (r *rig) reply(ev chat.Event, text string) chat.Receipt {
	r.t.Helper()
	return r.do(chat.Say{Place: ev.Place, Text: text, ReplyTo: ev.Message})
}

// answer plays a whole turn.
func (r *rig) answer(ev chat.Event, text string) {
	r.t.Helper()
	r.show(ev, chat.TurnStarted, "")
	r.show(ev, chat.ToolStarted, "send-reply")
	r.reply(ev, text)
	r.show(ev, chat.ToolEnded, "send-reply")
	r.show(ev, chat.TurnCompleted, "")
}

// The browser.

// open loads the page and waits until it can be written in.
func (r *rig) open(path string) {
	r.t.Helper()
	r.Steps(chromedp.Navigate("http://" + r.addr + path))
	r.Until(`document.activeElement.id === "text"`)
}
