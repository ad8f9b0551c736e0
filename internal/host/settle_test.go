package host

import (
	"database/sql"
	"strings"
	"testing"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/phrase"
)

// refuse lets the disk take no write of a kind, until what it returns is called.
func (r *rig) refuse(write string) (end func()) {
	r.t.Helper()
	exec := func(text string) {
		r.t.Helper()
		if err := r.db.Write(r.t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(text); return err }); err != nil {
			r.t.Fatal(err)
		}
	}
	exec(`CREATE TRIGGER full BEFORE ` + write + ` BEGIN SELECT raise(ABORT, 'disk full'); END`)
	return func() { exec(`DROP TRIGGER full`) }
}

// A disk that takes no apology and then takes the end of the message loses no apology.
func TestAnApologyThatTheDiskRefuses(t *testing.T) {
	r := live(t, dir(t), nil, silent(), silent())
	free := r.refuse(`INSERT ON outbox WHEN NEW.why = 'notice'`)
	r.hears(event("dm1", "ann", "hi"), chat.Accepted)
	r.until("it was refused", func() bool { return strings.Contains(r.log.String(), "a notice did not go out") })
	free()
	r.says("dm1: " + r.phrases.Say(phrase.Sorry))
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
