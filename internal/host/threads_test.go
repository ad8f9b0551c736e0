package host

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/desk"
	"familiar/internal/phrase"
	"familiar/internal/room"
	"familiar/internal/thread"
)

// goesOn is a desk that goes on with conversations: its agent's session is bound to the one that a turn belongs to. It
// notes each turn as person:conversation:session:text.
type goesOn struct {
	threads *thread.Threads
	hold    chan struct{} // a turn about «wait» ends when it is closed

	mu     sync.Mutex
	seen   []string
	handed []string
}

func (*goesOn) Continues() bool { return true }

func (*goesOn) Room(ev chat.Event) chat.RoomKey {
	return chat.NewRoomKey(ev.Place.Platform, ev.Place.ID, ev.From.ID)
}

func (d *goesOn) Attend(ctx context.Context, t chat.Turn) (desk.Result, error) {
	ev, _ := t.Trigger()
	if ev.Text() == "wait" {
		<-d.hold
	}
	of, err := d.threads.For(ctx, t)
	if err != nil {
		return desk.Result{}, err
	}
	session := of.Agent
	if session == "" {
		session = "new"
		err = d.threads.Bind(ctx, of.ID, fmt.Sprintf("%s's %s", t.From.ID, of.Name))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = append(d.seen, strings.Join([]string{t.From.ID, of.Name, session, ev.Text()}, ":"))
	return desk.Result{Replied: true}, err
}

// Steer takes everything that it is given.
func (d *goesOn) Steer(_ chat.TurnID, ev chat.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ev.Text() == "not now" {
		return agent.ErrNoTurn
	}
	d.handed = append(d.handed, ev.Text())
	return nil
}

// sees waits until the desk has attended to exactly these.
func (r *rig) sees(d *goesOn, want ...string) {
	r.t.Helper()
	seen := func() []string {
		d.mu.Lock()
		defer d.mu.Unlock()
		return append([]string(nil), d.seen...)
	}
	r.until(fmt.Sprintf("%q was attended to", want), func() bool { l := r.rooms.Load(); return len(seen()) >= len(want) && l.Running+l.Waiting == 0 })
	if got := seen(); strings.Join(got, "|") != strings.Join(want, "|") {
		r.t.Fatalf("attended to %q, want %q", got, want)
	}
}

// goingOn runs a bot with such a desk.
func goingOn(t *testing.T, d string, set func(*config.Config)) (*rig, *goesOn) {
	t.Helper()
	at := &goesOn{hold: make(chan struct{})}
	return liveWith(t, d, set, func(o *Options) {
		o.Desk = func(threads *thread.Threads) desk.Desk { at.threads = threads; return at }
	}), at
}

func TestSessionsOfTwoPeopleAcrossARestart(t *testing.T) {
	d := dir(t)
	r, at := goingOn(t, d, nil)
	r.hears(event("hall", "ann", "about tea"), chat.Accepted)
	r.sees(at, "ann:1:new:about tea")
	r.hears(event("hall", "ben", "about cake"), chat.Accepted)
	r.sees(at, "ann:1:new:about tea", "ben:1:new:about cake")
	r.hears(event("hall", "ann", "/new Holiday"), chat.Accepted)
	r.hears(event("hall", "ann", "to Oslo"), chat.Accepted)
	r.sees(at, "ann:1:new:about tea", "ben:1:new:about cake", "ann:Holiday:new:to Oslo")
	r.hears(event("hall", "ben", "/switch Holiday"), chat.Accepted)
	r.hears(event("hall", "ann", "/new holiday"), chat.Accepted)
	r.says("hall: "+r.phrases.Say(phrase.ThreadNew, "Holiday"), "hall: "+r.phrase(phrase.ThreadUnknown), "hall: "+r.phrase(phrase.ThreadTaken))
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}

	r, at = goingOn(t, d, nil)
	r.hears(event("hall", "ann", "and back"), chat.Accepted)
	r.sees(at, "ann:Holiday:ann's Holiday:and back")
	r.hears(event("hall", "ann", "/switch 1"), chat.Accepted)
	r.hears(event("hall", "ann", "more tea"), chat.Accepted)
	r.sees(at, "ann:Holiday:ann's Holiday:and back", "ann:1:ann's 1:more tea")
	r.hears(event("hall", "ben", "more cake"), chat.Accepted)
	r.sees(at, "ann:Holiday:ann's Holiday:and back", "ann:1:ann's 1:more tea", "ben:1:ben's 1:more cake")
	r.hears(event("dm1", "ann", "elsewhere"), chat.Accepted)
	r.sees(at, "ann:Holiday:ann's Holiday:and back", "ann:1:ann's 1:more tea", "ben:1:ben's 1:more cake", "ann:1:new:elsewhere")
	r.hears(event("hall", "ann", "/rename Tea time"), chat.Accepted)
	r.hears(event("hall", "ann", "/sessions back"), chat.Accepted) // a word of what was said in it
	r.hears(event("hall", "ann", "/sessions cake"), chat.Accepted) // Ben's
	r.hears(event("hall", "ann", "/sessions"), chat.Accepted)
	said := r.net.said()
	if len(said) != 5 || said[0] != "hall: "+r.phrases.Say(phrase.ThreadSwitched, "1") || said[1] != "hall: "+r.phrases.Say(phrase.ThreadRenamed, "Tea time") ||
		!strings.HasPrefix(said[2], "hall: - `Holiday` to Oslo 2") || said[3] != "hall: "+r.phrase(phrase.NothingFound) ||
		!strings.HasPrefix(said[4], "hall: - `Tea time` about tea "+r.phrase(phrase.ThreadCurrent)) || strings.Count(said[4], "\n") != 1 {
		t.Fatalf("%q", said)
	}
}

// BUG-F01: what waits, and what runs, stays in the conversation in which it was said; a turn that ends after the switch
// binds its own.
func TestSwitchingWhileATurnRuns(t *testing.T) {
	r, at := goingOn(t, dir(t), nil)
	r.hears(event("hall", "ann", "wait"), chat.Accepted)
	r.until("it runs", func() bool { return r.rooms.Load().Running == 1 })
	r.hears(event("hall", "ann", "old"), chat.Accepted)
	r.hears(event("hall", "ann", "/new other"), chat.Accepted)
	r.hears(event("hall", "ann", "fresh"), chat.Accepted)
	close(at.hold)
	r.sees(at, "ann:1:new:wait", "ann:1:ann's 1:old", "ann:other:new:fresh")
	r.hears(event("hall", "ann", "again"), chat.Accepted)
	r.sees(at, "ann:1:new:wait", "ann:1:ann's 1:old", "ann:other:new:fresh", "ann:other:ann's other:again")
}

// A running turn is handed what belongs to its own conversation, and nothing of another.
func TestSteeringKeepsConversationsApart(t *testing.T) {
	r, at := goingOn(t, dir(t), func(c *config.Config) { c.Access.Room.WhileBusy = room.Steer })
	r.hears(event("hall", "ann", "wait"), chat.Accepted)
	r.until("it runs", func() bool { return r.rooms.Load().Running == 1 })
	r.hears(event("hall", "ann", "of the same"), chat.Accepted)
	r.hears(event("hall", "ann", "/new other"), chat.Accepted)
	r.hears(event("hall", "ann", "of another"), chat.Accepted)
	close(at.hold)
	r.sees(at, "ann:1:new:wait", "ann:other:new:of another")
	if got := strings.Join(at.handed, "|"); got != "of the same" {
		t.Fatalf("handed over: %s", got)
	}
}

// A desk that begins afresh each time has one conversation, and no commands for more.
func TestADeskThatBeginsAfreshOffersNoSessions(t *testing.T) {
	r := live(t, dir(t), nil, reply("hi"))
	r.hears(event("dm1", "ann", "/new other"), chat.Accepted)
	r.says("dm1: hi")
	for _, c := range r.commands.For(chat.Owner) {
		if c.Name == "/new" || c.Name == "/sessions" || c.Name == "/switch" || c.Name == "/rename" {
			t.Errorf("%s is offered", c.Name)
		}
	}
	var n int
	if err := r.db.Read().QueryRowContext(t.Context(), `SELECT count(*) FROM threads`).Scan(&n); err != nil || n != 0 {
		t.Fatal(n, err)
	}
}
