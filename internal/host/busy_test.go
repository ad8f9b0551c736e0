package host

import (
	"database/sql"
	"strings"
	"testing"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/phrase"
)

// Where the network will not bring it again, a person whose message finds no room is told so, once.
func TestAFullRoomTellsThePerson(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) { c.Server.ShutdownMs = 1 }, script.Turn{Steps: []script.Step{{Wait: true}}})
	r.hears(event("dm1", "ann", "first"), chat.Accepted)
	r.until("it runs", func() bool { return r.rooms.Load().Running == 1 })
	for range 20 {
		r.hears(event("dm1", "ann", "more"), chat.Accepted)
	}
	over := event("dm1", "ann", "one too many")
	r.hears(over, chat.Refused)
	r.hears(over, chat.Repeat)
	if n := strings.Count(strings.Join(r.net.said(), "|"), r.phrase(phrase.Busy)); n != 1 {
		t.Errorf("told %d times: %q", n, r.net.said())
	}
	if left, err := r.inbox.Left(t.Context()); err != nil || len(left) != 21 {
		t.Error(len(left), err)
	}
}

// A disk that refuses an event for a moment loses none that would not come again; one that would is sent back.
func TestADiskThatRefusesForAMoment(t *testing.T) {
	for _, redelivers := range []bool{false, true} {
		r := liveWith(t, dir(t), nil, func(o *Options) { o.Network.(*network).redelivers = redelivers }, reply("hi"))
		rename := func(from, to string) {
			t.Helper()
			if err := r.db.Write(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.Exec("ALTER TABLE " + from + " RENAME TO " + to)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		rename("inbox", "away")
		outcome := make(chan chat.Outcome, 1)
		go func() { outcome <- r.net.hear(t.Context(), event("dm1", "ann", "hello")) }()
		if redelivers {
			if got := <-outcome; got != chat.Busy || !strings.Contains(r.log.String(), "could not be stored") {
				t.Error(got)
			}
			rename("away", "inbox")
			continue
		}
		r.until("it was tried", func() bool { return strings.Contains(r.log.String(), "it is tried again") })
		rename("away", "inbox")
		if got := <-outcome; got != chat.Accepted {
			t.Error(got)
		}
		r.says("dm1: hi")
	}
}
