package discord

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/chat"
	"familiar/internal/kv"
	"familiar/internal/platform/discord/discordtest"
	"familiar/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient bounds what hangs; it is no measure.
const patient = 20 * time.Second

// rig is a Discord with a server, a channel and a person, and the platform on it.
type rig struct {
	*Discord
	net   *discordtest.Server
	guild *discordtest.Guild
	talk  *discordtest.Channel
	ann   discordtest.User
	store kv.Store

	mu     sync.Mutex
	events []chat.Event
	ups    int
	ended  chan error
	end    context.CancelFunc
}

// world opens a Discord. Whatever rule was broken fails the test, unless it says that it breaks some.
func world(t *testing.T, lenient bool) *rig {
	t.Helper()
	net, err := discordtest.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{net: net, store: kv.NewMemory(time.Now), guild: net.AddGuild("The Tea House", nil), ann: net.AddUser("ann", "Ann")}
	r.talk = net.AddChannel(r.guild, "talk", discordtest.Text)
	t.Cleanup(func() {
		if r.end != nil {
			r.stop(t)
		}
		net.Close()
		if found := net.Problems(); !lenient && len(found) > 0 {
			t.Errorf("rules of Discord were broken: %q", found)
		}
	})
	return r
}

// config is how a bot is set up on the fake.
func (r *rig) config() Config {
	cfg := Defaults()
	cfg.Enabled, cfg.Token, cfg.APIURL, cfg.TypingIndicator.Enabled = true, secret.New(r.net.Token()), r.net.URL(), true
	return cfg
}

// open makes the platform.
func (r *rig) open(change func(*Config)) *rig {
	cfg := r.config()
	if change != nil {
		change(&cfg)
	}
	r.Discord = New(cfg, Deps{Log: slog.New(slog.DiscardHandler), Version: "test", Store: r.store})
	return r
}

// connect opens a Discord and a platform, and runs it until it is connected.
func connect(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	r := world(t, false).open(change)
	r.run(t)
	r.until(t, "it is connected", func() bool { return r.ups > 0 })
	return r
}

// run runs the platform once.
func (r *rig) run(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	r.ended, r.end = make(chan error, 1), end
	go func() { r.ended <- r.Run(ctx, r.hear, func() { r.note(func() { r.ups++ }) }) }()
}

func (r *rig) note(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

func (r *rig) hear(_ context.Context, ev chat.Event) chat.Outcome {
	r.note(func() { r.events = append(r.events, ev) })
	return chat.Accepted
}

// stop ends the platform in order.
func (r *rig) stop(t *testing.T) {
	t.Helper()
	r.end()
	if err := r.left(t); err != nil {
		t.Errorf("Run returned %v", err)
	}
}

// left waits for the end of Run.
func (r *rig) left(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		r.end = nil
		return err
	case <-time.After(patient):
		t.Fatal("Run did not return")
		return nil
	}
}

// until waits for a condition; the lock of the rig is held while it is asked.
func (r *rig) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit := time.Now().Add(patient)
	for {
		r.mu.Lock()
		ok := holds()
		r.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("waited in vain until %s; the fake saw %q", what, r.net.Problems())
		}
		time.Sleep(2 * time.Millisecond) // a poll of a condition
	}
}

// heard waits until something with these words was heard, and returns it.
func (r *rig) heard(t *testing.T, words string) (ev chat.Event) {
	t.Helper()
	r.until(t, "«"+words+"» is heard", func() bool {
		i := slices.IndexFunc(r.events, func(e chat.Event) bool { return e.Text() == words })
		if i >= 0 {
			ev = r.events[i]
		}
		return i >= 0
	})
	return ev
}

// mention is how a text names the bot.
func (r *rig) mention() string { return "<@" + r.net.Bot().ID + ">" }

// here is the channel as a place.
func (r *rig) here() chat.Place { return place(r.talk.ID, r.guild.ID) }

// file writes a file that may be sent.
func file(t *testing.T, name, text string) chat.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return chat.File{Path: path, Name: name, MIME: "text/plain"}
}

// A token of nobody, whose first part is the id of the fake's bot.
var secretToken = secret.New("NDAwMDAwMDAwMDAwMDAwMDQy.x.y")

var quietDeps = Deps{Log: slog.New(slog.DiscardHandler)}

func collect(into *[]chat.Event) chat.Hear {
	return func(_ context.Context, ev chat.Event) chat.Outcome {
		*into = append(*into, ev)
		return chat.Accepted
	}
}
