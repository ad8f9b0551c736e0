package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/agent"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/instance"
	"familiar/internal/platform"
	"familiar/internal/secret"
)

func TestMain(m *testing.M) {
	script.Main()
	operatorServer()
	goleak.VerifyTestMain(m)
}

// network is a platform of groups and direct places that remembers what reached it.
type network struct {
	mu   sync.Mutex
	got  []string
	hear chat.Hear
	up   chan struct{}
	down chan struct{} // closed: never connects

	loses      int  // so many actions end in nobody knows what
	files      bool // it takes files
	redelivers bool // what was answered with Busy comes again
}

func newNetwork() *network { return &network{up: make(chan struct{})} }

func (n *network) Name() string { return "net" }

func (n *network) Run(ctx context.Context, hear chat.Hear, up func()) error {
	if n.down != nil {
		<-ctx.Done()
		return nil
	}
	n.mu.Lock()
	n.hear = hear
	n.mu.Unlock()
	up()
	close(n.up)
	<-ctx.Done()
	return nil
}

func (n *network) Abilities() chat.Abilities {
	return chat.Abilities{React: true, Files: n.files, Redelivers: n.redelivers}
}

func (n *network) Do(_ context.Context, a chat.Action) (chat.Receipt, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.loses > 0 {
		n.loses--
		return chat.Receipt{}, platform.Uncertain{Err: errors.New("no answer")}
	}
	if say, ok := a.(chat.Say); ok {
		n.got = append(n.got, say.Place.ID+": "+say.Text)
	}
	if send, ok := a.(chat.SendFile); ok {
		text, err := os.ReadFile(send.Files[0].Path)
		if err != nil {
			return chat.Receipt{}, err
		}
		n.got = append(n.got, fmt.Sprintf("%s: %s=%s (%s)", send.Place.ID, send.Files[0].Name, text, send.Text))
	}
	return chat.Receipt{Message: chat.MessageID(fmt.Sprint("b", len(n.got))), At: time.Now()}, nil
}

func (n *network) said() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.got...)
}

// told is an agent that remembers every prompt.
type told struct {
	agent.Agent
	mu      sync.Mutex
	prompts []string
}

type toldSession struct {
	agent.Session
	of *told
}

func (a *told) Open(ctx context.Context, o agent.Opening) (agent.Session, error) {
	s, err := a.Agent.Open(ctx, o)
	return toldSession{s, a}, err
}

func (s toldSession) Prompt(ctx context.Context, t chat.Turn, blocks []agent.Block, w agent.Watcher) (agent.Result, error) {
	text, _ := blocks[0].(agent.Text)
	s.of.mu.Lock()
	s.of.prompts = append(s.of.prompts, string(text))
	s.of.mu.Unlock()
	return s.Session.Prompt(ctx, t, blocks, w)
}

func (s toldSession) Steer(text string) error {
	to, ok := s.Session.(agent.Steerer)
	if !ok {
		return agent.ErrNoTurn
	}
	return to.Steer(text)
}

func (a *told) prompt(i int) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i >= len(a.prompts) {
		return ""
	}
	return a.prompts[i]
}

// rig is a bot at work in this process.
type rig struct {
	*Host
	t     *testing.T
	net   *network
	agent *told
	log   *lines
	leave context.CancelFunc
	ended chan error
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// live opens and runs a bot in dir with a scripted agent; set changes its configuration.
func live(t *testing.T, dir string, set func(*config.Config), turns ...script.Turn) *rig {
	t.Helper()
	return liveWith(t, dir, set, nil, turns...)
}

// liveWith is live, with options that change changes.
func liveWith(t *testing.T, dir string, set func(*config.Config), change func(*Options), turns ...script.Turn) *rig {
	t.Helper()
	r := begin(t, dir, set, change, turns...)
	if r.net.down == nil {
		<-r.net.up
	}
	return r
}

// begin is liveWith for bots that need not be connected.
func begin(t *testing.T, dir string, set func(*config.Config), change func(*Options), turns ...script.Turn) *rig {
	t.Helper()
	r := &rig{t: t, net: newNetwork(), agent: &told{Agent: script.New(script.Script{Turns: turns})}, log: &lines{}}
	inst, err := instance.Find(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := inst.Create(); err != nil {
		t.Fatal(err)
	}
	load := func() (config.Loaded, error) {
		loaded, err := config.Load(config.Where{Dir: inst.Dir}, nil)
		loaded.Config.Server.Port, loaded.Config.Server.ShutdownMs = 0, 60_000
		loaded.Config.SkillAPI.Port = 0
		loaded.Config.Access.ReplyPolicy = "all"
		if set != nil {
			set(&loaded.Config)
		}
		return loaded, err
	}
	loaded, err := load()
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, cancel := context.WithCancel(t.Context())
	options := Options{Instance: inst, Loaded: loaded, Load: load, Vault: &secret.Vault{}, Log: log,
		Token: secret.New(strings.Repeat("t", 64)), Agent: r.agent, Network: r.net}
	if change != nil {
		change(&options)
	}
	if r.Host, err = Open(ctx, options); err != nil {
		cancel()
		t.Fatal(err)
	}
	r.leave, r.ended = cancel, make(chan error, 1)
	go func() { r.ended <- r.Run(ctx) }()
	<-r.Ready()
	t.Cleanup(func() { r.stop() })
	return r
}

// stop ends the bot, once, and returns what Run did.
func (r *rig) stop() error {
	r.leave()
	err, ok := <-r.ended
	if ok {
		close(r.ended)
	}
	return err
}

var serial int

// event is a message to the bot; place "dm…" is direct, any other a group.
func event(place, who, text string) chat.Event {
	serial++
	id := chat.MessageID(fmt.Sprint("m", serial))
	p := chat.Place{Platform: "net", ID: place, Kind: chat.Group, Guild: "g"}
	if strings.HasPrefix(place, "dm") {
		p.Kind, p.Guild = chat.Direct, ""
	}
	return chat.Event{ID: chat.NewEventID("us", p, chat.KindSaid, string(id), ""), At: time.Now(), Place: p, Message: id,
		From: chat.Person{Platform: "net", ID: who, Name: strings.ToUpper(who)}, Addressed: true, Body: chat.Said{Text: text}}
}

// hears hands an event in and checks the outcome.
func (r *rig) hears(ev chat.Event, want chat.Outcome) {
	r.t.Helper()
	if got := r.net.hear(r.t.Context(), ev); got != want {
		r.t.Fatalf("%q: %v, want %v", ev.Text(), got, want)
	}
}

// says waits until exactly these messages have reached the network.
func (r *rig) says(want ...string) {
	r.t.Helper()
	r.until(fmt.Sprintf("%q was said", want), func() bool { return len(r.net.said()) >= len(want) && r.rooms.Load().Running == 0 })
	if got := r.net.said(); strings.Join(got, "|") != strings.Join(want, "|") {
		r.t.Fatalf("said %q, want %q\n%s", got, want, r.log)
	}
}

func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("it never came to pass that %s\nsaid %q\n%s", what, r.net.said(), r.log)
		}
	}
}

func dir(t *testing.T) string { return filepath.Join(t.TempDir(), "bot") }

func reply(text string) script.Turn {
	return script.Turn{Steps: []script.Step{use("send-reply", map[string]string{"message": text})}}
}

func use(name string, args map[string]string) script.Step {
	raw, _ := json.Marshal(args) // a map of strings is always JSON
	return script.Step{Call: name, Args: raw}
}
