package host

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/command"
	"familiar/internal/inbox"
	"familiar/internal/phrase"
	"familiar/internal/sqlite"
)

// left makes a bot's directory as a crash left it.
func left(t *testing.T, does func(*inbox.Inbox)) (dirname string) {
	t.Helper()
	d := dir(t)
	r := live(t, d, nil)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(d, "state", "familiar.db"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := inbox.Open(t.Context(), db, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	does(in)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return d
}

func accept(t *testing.T, in *inbox.Inbox, evs ...chat.Event) {
	t.Helper()
	for _, ev := range evs {
		if fresh, err := in.Accept(t.Context(), ev); err != nil || !fresh {
			t.Fatal(fresh, err)
		}
	}
}

// A turn that was cut off is apologised for once, however many messages it had to answer: an album, or what was handed
// to it while it ran.
func TestOneApologyForAllMessagesOfATurn(t *testing.T) {
	one, two, other := event("dm1", "ann", "one"), event("dm1", "ann", "two"), event("dm2", "ben", "three")
	d := left(t, func(in *inbox.Inbox) {
		accept(t, in, one, other, two)
		for id, evs := range map[chat.TurnID][]chat.Event{"t1": {one, two}, "t2": {other}} {
			if err := in.Begin(t.Context(), chat.Turn{ID: id, Cause: evs}); err != nil {
				t.Fatal(err)
			}
		}
	})
	r := live(t, d, nil, reply("hi"))
	r.says("dm1: "+r.phrase(phrase.CutOff), "dm2: "+r.phrase(phrase.CutOff))
	r.nothingLeft()
}

// An album that waits when the program dies is one turn of the next process; a message that was edited while it waited
// is what it says now, and no command.
func TestWhatWaitedIsTakenUpTogether(t *testing.T) {
	begin := time.Now().Add(-time.Hour)
	var album []chat.Event
	for i, name := range []string{"one.png", "two.png"} {
		ev := event("dm1", "ann", "")
		ev.At = begin.Add(time.Duration(i) * time.Millisecond)
		ev.Body = chat.Said{Attachments: []chat.Attachment{{ID: name, Name: name, MIME: "image/png"}}}
		album = append(album, ev)
	}
	edited := event("dm2", "ben", "")
	edited.Body = chat.Said{Text: "/help", Revised: begin}
	half := edit(event("dm3", "eve", "answered"), "an edit that was carried out, and not finished")
	d := left(t, func(in *inbox.Inbox) { accept(t, in, append(album, edited, half)...) })
	r := live(t, d, nil, reply("hi"))
	r.until("both are answered", func() bool { return len(r.net.said()) == 2 })
	r.nothingLeft()
	prompts := r.agent.prompt(0) + r.agent.prompt(1)
	if !strings.Contains(prompts, "one.png") || !strings.Contains(prompts, "two.png") || !strings.Contains(prompts, "/help") ||
		r.agent.prompt(2) != "" {
		t.Fatal(prompts)
	}
}

// AF-64: an event on which we stumble ends neither the program nor the connection, and the next one is heard. What a
// turn stumbles on is TestAFailedTurnGetsOneNeutralSentence.
func TestAnEventThatPanicsIsItsOwnProblem(t *testing.T) {
	r := live(t, dir(t), nil, reply("hi"))
	hooks := command.Hooks{Now: time.Now, Began: r.begin, Ended: func(context.Context, chat.Turn, string, string, error) { panic("a bug") }}
	r.commands = command.New(hooks, command.Command{Name: "/boom", Needs: chat.Public,
		Run: func(context.Context, chat.Turn, string) (string, error) { return "", nil }})
	r.hears(event("dm1", "ann", "/boom"), chat.Busy)
	r.hears(event("dm1", "ann", "hello"), chat.Accepted)
	r.says("dm1: hi")
	if log := r.log.String(); !strings.Contains(log, "hearing an event panicked") || strings.Contains(log, "platform lost") {
		t.Error(log)
	}
}
