package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/gate"
	"familiar/internal/phrase"
)

func TestAMessageIsAnsweredOnce(t *testing.T) {
	r := live(t, dir(t), nil, reply("hi Ann"))
	ev := event("dm1", "ann", "hello")
	r.hears(ev, chat.Accepted)
	r.says("dm1: hi Ann")
	r.hears(ev, chat.Repeat)
	r.says("dm1: hi Ann")
	if strings.Contains(r.log.String(), "hello") || strings.Contains(r.log.String(), "hi Ann") {
		t.Error("AF-190: what was said stands in the log, at the level DEBUG:\n" + r.log.String())
	}
}

// The trust boundary, from end to end: what was said in private is told in private only.
func TestAGroupNeverLearnsWhatWasSaidInPrivate(t *testing.T) {
	save := func(text string) script.Turn {
		return script.Turn{Steps: []script.Step{use("memory-save", map[string]string{"content": text, "importance": "high"}),
			use("send-reply", map[string]string{"message": "noted"})}}
	}
	d := dir(t)
	r := live(t, d, nil, save("PRIVATE word"))
	r.hears(event("dm1", "ann", "a secret"), chat.Accepted)
	r.says("dm1: noted")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = live(t, d, nil, save("PUBLIC word"))
	r.hears(event("hall", "ann", "no secret"), chat.Accepted)
	r.says("hall: noted")
	r.hears(event("dm1", "ann", "and in private?"), chat.Accepted)
	r.says("hall: noted", "dm1: noted")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	search := script.Turn{Steps: []script.Step{use("memory-search", map[string]string{"query": "word"}), use("send-reply", map[string]string{"message": "ok"})}}
	r = live(t, d, nil, search)
	r.hears(event("hall", "ann", "what do you know?"), chat.Accepted)
	r.says("hall: ok")
	r.hears(event("dm1", "ann", "and here?"), chat.Accepted)
	r.says("hall: ok", "dm1: ok")
	r.hears(event("dm2", "ben", "and of Ann?"), chat.Accepted)
	r.says("hall: ok", "dm1: ok", "dm2: ok")
	hall, direct, ben := r.agent.prompt(0), r.agent.prompt(1), r.agent.prompt(2)
	if !strings.Contains(hall, "PUBLIC word") || strings.Contains(hall, "PRIVATE word") { // AF-71
		t.Error("in the group:", hall)
	}
	if !strings.Contains(direct, "PUBLIC word") || !strings.Contains(direct, "PRIVATE word") { // AF-71
		t.Error("in private:", direct)
	}
	if strings.Contains(ben, "PUBLIC word") || strings.Contains(ben, "PRIVATE word") {
		t.Error("somebody else:", ben)
	}
}

func TestWhoIsNotHeardGetsNothing(t *testing.T) {
	d := dir(t)
	r := live(t, d, func(c *config.Config) { c.Access.ReplyPolicy = "channels" }, reply("no"))
	for range 3 { // AF-27
		r.hears(event("hall", "ann", "let me in"), chat.Refused)
	}
	group := event("hall", "ann", "talk beside us")
	group.Addressed = false
	r.hears(group, chat.Ignored)
	if said := r.net.said(); len(said) != 0 {
		t.Fatal(said)
	}
	if n := strings.Count(r.log.String(), `msg="not heard"`); n != 4 || strings.Contains(r.log.String(), "let me in") {
		t.Fatalf("%d lines:\n%s", n, r.log)
	}
	if entries, err := os.ReadDir(filepath.Join(d, "data", "workspaces")); err != nil || len(entries) != 0 {
		t.Fatal("a workspace was made", entries, err)
	}
}

func TestTooManyMessagesAreRefusedSilently(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) {
		c.Access.RateLimit = gate.Rate{Enabled: true, MaxRequestsPerWindow: 2, WindowMs: 60_000, CooldownMs: 60_000}
	}, reply("hi"))
	for i, want := range []chat.Outcome{chat.Accepted, chat.Accepted, chat.Refused, chat.Refused} { // AF-32
		ev := event("dm1", "ann", "hello")
		r.hears(ev, want)
		if i < 2 {
			continue
		}
		if left, err := r.inbox.Left(t.Context()); err != nil || len(left) > 2 {
			t.Fatal("it waits", left, err)
		}
	}
	r.says("dm1: hi", "dm1: hi")
	r.hears(event("dm2", "ben", "hello"), chat.Accepted)
	r.says("dm1: hi", "dm1: hi", "dm2: hi")
}

func TestClear(t *testing.T) {
	d := dir(t)
	r := live(t, d, nil, reply("hi"))
	for _, text := range []string{"/clear", "  /clear", "/clear please"} { // AF-67
		r.hears(event("dm1", "ann", text), chat.Accepted)
	}
	if said := r.net.said(); len(said) != 0 || r.agent.prompt(0) != "" {
		t.Fatal(said)
	}
	if _, err := os.Stat(filepath.Join(d, "data", "workspaces", "net", "ann")); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("a workspace was made", err)
	}
	r.hears(event("dm1", "ann", "please /clear"), chat.Accepted) // AF-68
	r.says("dm1: hi")
	r.hears(event("dm1", "ann", "old words"), chat.Accepted)
	r.says("dm1: hi", "dm1: hi")
	r.hears(event("dm1", "ann", "/clear"), chat.Accepted)
	r.hears(event("dm1", "ann", "new words"), chat.Accepted)
	r.says("dm1: hi", "dm1: hi", "dm1: hi")
	if old, cut := r.agent.prompt(1), r.agent.prompt(2); !strings.Contains(old, "please /clear") || strings.Contains(cut, "old words") {
		t.Fatal(cut)
	}
}

func TestAFullRoomSendsAnEventBack(t *testing.T) {
	r := liveWith(t, dir(t), func(c *config.Config) { c.Server.ShutdownMs = 1 },
		func(o *Options) { o.Network.(*network).redelivers = true }, script.Turn{Steps: []script.Step{{Wait: true}}})
	first := event("dm1", "ann", "first")
	r.hears(first, chat.Accepted)
	r.until("it runs", func() bool { return r.rooms.Load().Running == 1 })
	for range 20 {
		r.hears(event("dm1", "ann", "more"), chat.Accepted)
	}
	over := event("dm1", "ann", "one too many")
	r.hears(over, chat.Busy)
	r.hears(over, chat.Busy) // it is not a repeat: it was not taken
	left, err := r.inbox.Left(t.Context())
	if err != nil || len(left) != 21 {
		t.Fatal(len(left), err)
	}
	if said := r.net.said(); len(said) != 19 || !strings.Contains(said[0], "2") || !strings.Contains(said[18], "20") {
		t.Fatalf("whoever is not the next is told their place in line: %q", said)
	}
	if before, err := r.history.Before(t.Context(), over.Place, "", 100); err != nil || strings.Contains(texts(before), "one too many") {
		t.Fatal("it was sent back, and stays in history", err)
	}
}

func texts(said []chat.Message) (all string) {
	for _, m := range said {
		all += m.Text + "\n"
	}
	return all
}

// A person reads of an id that there is not in the bot's own language, and not what the tool told us.
func TestForgettingWhatIsNotThere(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) {
		c.Bot.Language = "zh-TW"
		c.Bot.Owner = map[string]config.IDs{"net": {"ann"}}
	})
	r.hears(event("dm1", "ann", "/forget mem_x"), chat.Accepted)
	r.says("dm1: " + r.phrases.Say(phrase.MemoryUnknown, "mem_x"))
}
