package host

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/inbox"
	"familiar/internal/phrase"
	"familiar/internal/sqlite"
)

// refuse lets the disk take no write of a kind, until what it returns is called.
func (r *rig) refuse(write string) (end func()) { r.t.Helper(); return refuse(r.t, r.db, write) }

func refuse(t *testing.T, db *sqlite.DB, write string) (end func()) {
	t.Helper()
	exec := func(text string) {
		t.Helper()
		if err := db.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(text); return err }); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TRIGGER full BEFORE ` + write + ` BEGIN SELECT raise(ABORT, 'disk full'); END`)
	return func() { exec(`DROP TRIGGER full`) }
}

// noNotice is a disk that takes no word of the host's own.
const noNotice = `INSERT ON outbox WHEN NEW.why = 'notice'`

// A disk that takes no apology and then takes the end of the message loses no apology.
func TestAnApologyThatTheDiskRefuses(t *testing.T) {
	r := live(t, dir(t), nil, silent(), silent())
	free := r.refuse(noNotice)
	r.hears(event("dm1", "ann", "hi"), chat.Accepted)
	r.until("it was refused", func() bool { return strings.Contains(r.log.String(), "a notice did not go out") })
	free()
	r.says("dm1: " + r.phrases.Say(phrase.Sorry))
	r.nothingLeft()
}

// A command whose answer the disk refuses is not finished: the next start tells of it.
func TestAnAnswerOfACommandThatTheDiskRefuses(t *testing.T) {
	d := dir(t)
	r := live(t, d, nil)
	free := r.refuse(noNotice)
	r.hears(event("dm1", "ann", "/stop"), chat.Accepted)
	free()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = live(t, d, nil)
	r.says("dm1: " + r.phrases.Say(phrase.CutOff))
	r.nothingLeft()
}

// A start on whose disk there is no room for what it has to tell leaves that to the next one.
func TestWhatAStartCannotTell(t *testing.T) {
	cut := event("dm1", "ann", "hi")
	d := left(t, func(in *inbox.Inbox) {
		accept(t, in, cut)
		if err := in.Begin(t.Context(), chat.Turn{ID: "t1", Cause: []chat.Event{cut}}); err != nil {
			t.Fatal(err)
		}
	})
	db, err := sqlite.Open(t.Context(), filepath.Join(d, "state", "familiar.db"))
	if err != nil {
		t.Fatal(err)
	}
	refuse(t, db, noNotice)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r := live(t, d, nil)
	if err := r.db.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(`DROP TRIGGER full`); return err }); err != nil {
		t.Fatal(err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = live(t, d, nil)
	r.says("dm1: " + r.phrases.Say(phrase.CutOff))
	r.nothingLeft()
}

// An answer that a crash met while it was sent is told of once: also where the message that it answers was finished long
// ago, since it was held, and where its turn had more to answer.
func TestAnAnswerThatACrashLost(t *testing.T) {
	for name, finished := range map[string]bool{"held": true, "at work": false} {
		t.Run(name, func(t *testing.T) {
			asked, handed := event("dm1", "ann", "hi"), event("dm1", "ann", "and")
			d := left(t, func(in *inbox.Inbox) {
				accept(t, in, asked, handed)
				if err := in.Begin(t.Context(), chat.Turn{ID: "t1", Cause: []chat.Event{asked, handed}}); err != nil {
					t.Fatal(err)
				}
				if finished {
					if err := in.Finish(t.Context(), asked, handed); err != nil {
						t.Fatal(err)
					}
				}
			})
			db, err := sqlite.Open(t.Context(), filepath.Join(d, "state", "familiar.db"))
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Write(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.Exec(`INSERT INTO outbox (key, turn, why, event, place, does, action, hash, state, at)
					VALUES ('t1.1', 't1', 'talk', ?, '{"platform":"net","id":"dm1","kind":"direct"}', 'say', '{"Text":"hello"}', '', 'pending', ?)`,
					asked.ID, asked.At.UnixMilli())
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			r := live(t, d, nil)
			r.says("dm1: " + r.phrases.Say(phrase.LostReply))
			r.nothingLeft()
		})
	}
}

// A message that finds no room, and whose author cannot be told so, is taken all the same.
func TestAFullRoomOfWhichNobodyCanBeTold(t *testing.T) {
	open := make(chan struct{})
	r := live(t, dir(t), nil, held(open, "first"))
	r.hears(event("dm1", "ann", "first"), chat.Accepted)
	r.running(1)
	for range 20 {
		r.hears(event("dm1", "ann", "more"), chat.Accepted)
	}
	free := r.refuse(noNotice)
	r.hears(event("dm1", "ann", "one too many"), chat.Accepted)
	free()
	close(open)
	r.until("all are answered", func() bool { return strings.Count(strings.Join(r.net.said(), "|"), "dm1: first") == 22 })
	r.nothingLeft()
}

// A message that finds no room, and that the disk does not let go of, is not lost when it comes again.
func TestAFullRoomThatTheDiskKeepsFull(t *testing.T) {
	open := make(chan struct{})
	turns := []script.Turn{held(open, "first")}
	for range 21 {
		turns = append(turns, reply("more"))
	}
	r := liveWith(t, dir(t), nil, func(o *Options) { o.Network.(*network).redelivers = true }, turns...)
	r.hears(event("dm1", "ann", "first"), chat.Accepted)
	r.running(1)
	for range 20 {
		r.hears(event("dm1", "ann", "more"), chat.Accepted)
	}
	free := r.refuse(`DELETE ON inbox`)
	over := event("dm1", "ann", "one too many")
	got := r.net.hear(t.Context(), over)
	free()
	if got == chat.Busy {
		r.hears(over, chat.Accepted) // it comes again
	}
	close(open)
	r.nothingLeft()
}
