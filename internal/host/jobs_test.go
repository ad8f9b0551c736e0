package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/clock"
	"familiar/internal/config"
	"familiar/internal/gate"
	"familiar/internal/memory"
	"familiar/internal/platform"
	"familiar/internal/research"
	"familiar/internal/tool"
)

// guided is a network that knows its people and its history.
type guided struct {
	*network
	name   string
	direct func(chat.Person) (chat.Place, error)
	last   atomic.Pointer[chat.Message]
}

func (g *guided) Name() string      { return g.name }
func (g *guided) Self() chat.Person { return chat.Person{Platform: g.name, ID: "bot", Us: true} }
func (g *guided) Emojis(context.Context, chat.Place) ([]chat.Emoji, error) {
	return []chat.Emoji{{Text: ":cat:", Reaction: ":cat:"}}, nil
}
func (g *guided) Direct(_ context.Context, p chat.Person) (chat.Place, error) { return g.direct(p) }
func (g *guided) Before(context.Context, chat.Place, chat.MessageID, int) ([]chat.Message, error) {
	if m := g.last.Load(); m != nil {
		return []chat.Message{*m}, nil
	}
	return nil, nil
}
func (g *guided) Search(context.Context, chat.Place, string, int) ([]chat.Message, error) {
	return nil, platform.ErrUnsupported
}

// initiative is a bot with all features of a companion on, on a guided network.
func initiative(t *testing.T, set func(*config.Config), turns ...script.Turn) (*rig, *guided) {
	t.Helper()
	return initiativeOn(t, "net", set, turns...)
}

func initiativeOn(t *testing.T, name string, set func(*config.Config), turns ...script.Turn) (*rig, *guided) {
	t.Helper()
	g := &guided{name: name, direct: func(p chat.Person) (chat.Place, error) {
		return chat.Place{Platform: name, ID: "dm-" + p.ID, Kind: chat.Direct}, nil
	}}
	r := liveWith(t, t.TempDir(), func(c *config.Config) {
		c.Companion.Reminders.Enabled = true
		if set != nil {
			set(c)
		}
	}, func(o *Options) { g.network = o.Network.(*network); o.Network = g }, turns...)
	return r, g
}

func silent() script.Turn { return script.Turn{Steps: []script.Step{{Say: "words that nobody reads"}}} }

// dueReminder writes a reminder of ann that is due, with so many tries behind it.
func (r *rig) dueReminder(attempts int) (file string) {
	r.t.Helper()
	home, err := r.folders.Home("net", "ann")
	if err != nil {
		r.t.Fatal(err)
	}
	file = filepath.Join(home, "reminders.jsonl")
	text := `{"type":"reminder","id":"rem_1_a","createdAt":"2026-01-01T00:00:00.000Z","scheduledAt":"2026-01-02T00:00:00.000Z","message":"water the ferns","platform":"net","userId":"ann","channelId":"dm-ann","enabled":true}` + "\n"
	if attempts > 0 {
		text += fmt.Sprintf(`{"type":"reminder-patch","targetId":"rem_1_a","ts":"2026-01-03T00:00:00.000Z","changes":{"attempts":%d}}`+"\n", attempts)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return file
}

func (r *rig) remindNow() {
	r.t.Helper()
	if err := r.remindAll(r.t.Context(), time.Now()); err != nil {
		r.t.Fatal(err)
	}
}

// AF-162, AF-166: what came due while the bot was down is delivered at the first look, and no second time.
func TestAReminderIsDeliveredOnce(t *testing.T) {
	r, g := initiative(t, nil, reply("Your ferns!"))
	file := r.dueReminder(0)
	r.remindNow()
	r.remindNow()
	if said := g.said(); len(said) != 1 || said[0] != "dm-ann: Your ferns!" {
		t.Error(said)
	}
	if told := r.agent.prompt(0); !strings.Contains(told, "water the ferns") || !strings.Contains(told, "2026-01-02T00:00:00Z") {
		t.Error(told)
	}
	if text, _ := os.ReadFile(file); !strings.Contains(string(text), `"changes":{"enabled":false}`) {
		t.Errorf("%s", text)
	}
}

// AF-163, AF-164: no way to a person ends a reminder; a network that cannot be reached now does not.
func TestNoWayToThePerson(t *testing.T) {
	r, g := initiative(t, nil, reply("Your ferns!"))
	r.dueReminder(0)
	g.direct = func(chat.Person) (chat.Place, error) { return chat.Place{}, errors.New("not connected") }
	r.remindNow()
	if due, _ := r.reminders.Due(t.Context()); len(due) != 1 || due[0].Attempts != 0 {
		t.Fatal("it was not kept:", due)
	}
	g.direct = func(chat.Person) (chat.Place, error) { return chat.Place{}, platform.ErrUnreachable }
	r.remindNow()
	g.direct = func(chat.Person) (chat.Place, error) {
		return chat.Place{Platform: "net", ID: "dm", Kind: chat.Direct}, nil
	}
	r.remindNow()
	if due, _ := r.reminders.Due(t.Context()); len(due) != 0 || len(g.said()) != 0 {
		t.Error("it was not given up:", due, g.said())
	}
}

// AF-165: an agent that does not deliver is not asked for ever; at last the host says it itself. Nobody gets an apology
// for what they did not ask for just now.
func TestAnAgentThatDoesNotDeliver(t *testing.T) {
	r, g := initiative(t, nil, silent(), silent())
	file := r.dueReminder(0)
	if err := r.remindAll(t.Context(), time.Now()); err == nil {
		t.Error("the job says that all is well")
	}
	if text, _ := os.ReadFile(file); !strings.Contains(string(text), `"attempts":1,"notTill":"`) || len(g.said()) != 0 {
		t.Fatalf("%s\n%s", g.said(), text)
	}
	r.remindNow() // not yet
	r.dueReminder(4)
	r.remindNow()
	r.remindNow()
	if said := g.said(); len(said) != 1 || said[0] != "dm-ann: ⏰ You asked me to remind you: water the ferns" {
		t.Error(said)
	}
}

// BUG-H12: what cannot be delivered to one person keeps nobody else's from going out, and the clock says how it went.
func TestAReminderThatFailsBlocksNoOther(t *testing.T) {
	r, g := initiative(t, nil, reply("Your ferns!"))
	r.dueReminder(0)
	bob, err := r.folders.Home("net", "bob")
	if err != nil {
		t.Fatal(err)
	}
	line := `{"type":"reminder","id":"rem_1_b","scheduledAt":"2026-01-01T00:00:00.000Z","message":"call home","platform":"net","userId":"bob"}` + "\n"
	if err := os.WriteFile(filepath.Join(bob, "reminders.jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	g.direct = func(p chat.Person) (chat.Place, error) {
		if p.ID == "bob" { // whose is the older one
			return chat.Place{}, errors.New("not now")
		}
		return chat.Place{Platform: "net", ID: "dm-" + p.ID, Kind: chat.Direct}, nil
	}
	r.remindNow()
	if said := g.said(); len(said) != 1 || said[0] != "dm-ann: Your ferns!" {
		t.Error(said)
	}
	states := r.clock.States()
	if at := slices.IndexFunc(states, func(s clock.State) bool { return s.Name == "reminders" }); at < 0 || states[at].Next.IsZero() {
		t.Error(states)
	}
}

// What somebody takes back while others are reminded is not said.
func TestAReminderThatIsTakenBackInTime(t *testing.T) {
	r, g := initiative(t, nil, reply("Your ferns!"))
	ann := chat.Person{Platform: "net", ID: "ann"}
	r.dueReminder(0)
	due, err := r.reminders.Due(t.Context())
	if err == nil {
		err = r.reminders.Cancel(t.Context(), ann, due[0].ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := r.remind(t.Context(), due[0]); err != nil || len(g.said()) != 0 || r.agent.prompt(0) != "" {
		t.Error(err, g.said())
	}
}

// A reminder of which nobody knows whether it arrived comes again.
func TestAReminderThatMayBeLost(t *testing.T) {
	r := live(t, t.TempDir(), func(c *config.Config) { c.Companion.Reminders.Enabled = true }, reply("Your ferns!"))
	file := r.dueReminder(0)
	r.net.mu.Lock()
	r.net.loses = 1
	r.net.mu.Unlock()
	r.remindNow()
	if text, _ := os.ReadFile(file); !strings.Contains(string(text), `"attempts":1`) || strings.Contains(string(text), `"enabled":false`) || len(r.net.said()) != 0 {
		t.Errorf("%q\n%s", r.net.said(), text)
	}
}

// BUG-B15: an id is whatever the network says; nothing in it separates anything.
func TestIdsAreOpaque(t *testing.T) {
	r, g := initiative(t, nil, reply("hello"))
	for _, id := range []string{"29:abc", "29", "abc", "net/29:abc", "../29", "29:abc:", "-1001234567890"} {
		ev := event("dm-"+id, id, "hello from "+id)
		r.hears(ev, chat.Accepted)
		r.until("it is answered", func() bool { return slices.Contains(g.said(), "dm-"+id+": hello") })
		if _, err := r.memory.Save(t.Context(), ev.From, true, memory.Draft{Content: "fact of " + id}); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"29:abc", "29", "abc", "net/29:abc", "../29", "29:abc:", "-1001234567890"} {
		all, err := r.memory.All(t.Context(), chat.Person{Platform: "net", ID: id}, true)
		if err != nil || len(all) != 1 || all[0].Content != "fact of "+id {
			t.Errorf("%s: %v, %v", id, all, err)
		}
	}
}

// AF-132, and what a person asks for in a direct place is set by the tool of a turn.
func TestSettingAReminder(t *testing.T) {
	set := script.Turn{Steps: []script.Step{{Call: "set-reminder", Args: json.RawMessage(`{"scheduledAt":"2099-01-01T09:00","message":"party"}`)},
		{Call: "send-reply", Args: json.RawMessage(`{"message":"done"}`)}}}
	r, g := initiative(t, nil, set)
	ev := chat.Event{ID: "e", At: time.Now(), Message: "m", Addressed: true, Place: chat.Place{Platform: "net", ID: "dm-ann", Kind: chat.Direct},
		From: chat.Person{Platform: "net", ID: "ann"}, Body: chat.Said{Text: "remind me of the party"}}
	if got := r.hear(t.Context(), ev); got != chat.Accepted {
		t.Fatal(got)
	}
	r.until("it is answered", func() bool { return len(g.said()) == 1 })
	if all, err := r.reminders.Active(t.Context(), ev.From); err != nil || len(all) != 1 || all[0].Message != "party" || all[0].Place != "dm-ann" {
		t.Error(all, err)
	}
	off := live(t, t.TempDir(), nil)
	_, err := off.box.Call(t.Context(), chat.NewTurn(chat.Talk, ev, chat.Owner, time.Now()), "set-reminder", json.RawMessage(`{}`))
	var fault tool.Fault
	if !errors.As(err, &fault) || fault.Status != 404 {
		t.Error("with reminders off:", err)
	}
}

// AF-159, and a post goes to a place or a person that was opened to it.
func TestPosts(t *testing.T) {
	r, g := initiativeOn(t, "misskey", func(c *config.Config) { c.Platforms.Misskey.SpontaneousPost.ContextFetchProbability = 1 },
		reply("hello"))
	g.last.Store(&chat.Message{ID: "m1", From: chat.Person{Platform: "misskey", ID: "ann", Name: "Ann"}, Text: "what a day", At: time.Now()})
	post := func(id string) {
		t.Helper()
		r.gate.Reload(gate.Config{Channels: []gate.Entry{{ID: id, SpontaneousPost: true}}}, nil)
		if err := r.postIn("misskey")(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	post("*")
	if len(g.said()) != 0 || r.agent.prompt(0) != "" || !strings.Contains(r.log.String(), "no entry of access.channels") {
		t.Fatal("without an entry:", g.said())
	}
	post("misskey/timeline/self")
	post("misskey/account/ann")
	if said := strings.Join(g.said(), "|"); said != "timeline:self: hello|dm-ann: hello" {
		t.Error(said)
	}
	if told := r.agent.prompt(0); !strings.Contains(told, "what a day") || !strings.Contains(told, ":cat:") || !strings.Contains(told, "Nobody has spoken to you") {
		t.Error(told)
	}
}

// Where a network is away nobody thinks of something to say there.
func TestNoPostOnANetworkThatIsAway(t *testing.T) {
	g := &guided{name: "misskey"}
	r := liveWith(t, t.TempDir(), nil, func(o *Options) {
		g.network = o.Network.(*network)
		g.down, o.Network = make(chan struct{}), g
	}, reply("hello"))
	r.gate.Reload(gate.Config{Channels: []gate.Entry{{ID: "misskey/timeline/self", SpontaneousPost: true}}}, nil)
	if err := r.postIn("misskey")(t.Context(), time.Now()); err != nil || len(g.said()) != 0 || r.agent.prompt(0) != "" {
		t.Errorf("%v %q %q", err, g.said(), r.agent.prompt(0))
	}
}

// AF-164: while a network is away no agent is asked to remind anybody there, and no try counts.
func TestNoReminderOnANetworkThatIsAway(t *testing.T) {
	r := liveWith(t, t.TempDir(), func(c *config.Config) { c.Companion.Reminders.Enabled = true },
		func(o *Options) { o.Network.(*network).down = make(chan struct{}) }, reply("Your ferns!"))
	r.dueReminder(4)
	r.remindNow()
	if due, err := r.reminders.Due(t.Context()); err != nil || len(due) != 1 || due[0].Attempts != 4 || r.agent.prompt(0) != "" || len(r.net.said()) != 0 {
		t.Error(due, err, r.net.said())
	}
}

// AF-167, AF-168
func TestLurking(t *testing.T) {
	r, g := initiative(t, nil, reply("I know that song!"))
	hall := chat.Place{Platform: "net", ID: "hall", Kind: chat.Group}
	m := chat.Message{ID: "m1", From: chat.Person{Platform: "net", ID: "ann", Name: "Ann"}, Text: "what was that song?", At: time.Now()}
	look := func(change func(*chat.Message)) {
		t.Helper()
		last := m
		change(&last)
		g.last.Store(&last)
		if err := r.lurk(t.Context(), hall); err != nil {
			t.Fatal(err)
		}
	}
	look(func(m *chat.Message) { m.From.Us = true })
	look(func(m *chat.Message) { m.Addressed = true })
	look(func(m *chat.Message) { m.Reacted = true })
	if len(g.said()) != 0 || r.agent.prompt(0) != "" {
		t.Fatal(g.said())
	}
	look(func(*chat.Message) {})
	look(func(*chat.Message) {})
	if said := g.said(); len(said) != 1 || said[0] != "hall: I know that song!" {
		t.Error(said)
	}
	if told := r.agent.prompt(0); !strings.Contains(told, "what was that song?") || !strings.Contains(told, "## Current Message") || r.agent.prompt(1) != "" {
		t.Error(told, r.agent.prompt(1))
	}
}

// AF-169, AF-170: who has few memories is left alone, and one who goes wrong keeps nobody else from being tidied.
func TestTidying(t *testing.T) {
	r, _ := initiative(t, func(c *config.Config) { c.Companion.MemoryMaintenance.MinMemoryCount = 10 }, silent())
	broken, err := r.folders.Home("net", "broken")
	if err == nil {
		err = os.MkdirAll(filepath.Join(broken, "memory.public.jsonl"), 0o700) // a folder in place of the file
	}
	if err != nil {
		t.Fatal(err)
	}
	for id, n := range map[string]int{"few": 9, "many": 10, "more": 12} {
		for i := range n {
			if _, err := r.memory.Save(t.Context(), chat.Person{Platform: "net", ID: id}, i%2 == 0, memory.Draft{Content: fmt.Sprint(id, " fact ", i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	err = r.tidyAll(t.Context(), time.Now())
	if err == nil || strings.Count(err.Error(), "somebody on net") != 1 {
		t.Error(err)
	}
	for i, want := range []string{"many fact 9", "more fact 11", ""} {
		if told := r.agent.prompt(i); !strings.Contains(told, want) || want == "" && told != "" || strings.Contains(told, "few fact") {
			t.Errorf("prompt %d, which should tell %q: %s", i, want, told)
		}
	}
}

// AF-172: without anything to read no agent is asked.
func TestNothingToRead(t *testing.T) {
	r, _ := initiative(t, nil, silent())
	if _, err := r.feeds.Items(t.Context()); !errors.Is(err, research.ErrNothing) {
		t.Fatal(err)
	}
	if err := r.researchOnce(t.Context(), time.Now()); err != nil || r.agent.prompt(0) != "" {
		t.Error(err, r.agent.prompt(0))
	}
}
