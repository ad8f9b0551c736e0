package outbox

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// stumbling is a network that panics at everything.
type stumbling struct{ *network }

func (stumbling) Do(context.Context, chat.Action) (chat.Receipt, error) { panic("nil map") }

func (stumbling) Before(context.Context, chat.Place, chat.MessageID, int) ([]chat.Message, error) {
	panic("nil map")
}

func (stumbling) Search(context.Context, chat.Place, string, int) ([]chat.Message, error) {
	panic("nil map")
}

// A platform on which we stumble leaves no reply that counts as said and of which nobody is told, and takes nothing with
// it: what it is asked behind a turn is on a goroutine that nobody else guards.
func TestAPlatformThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &network{able: chat.Abilities{Typing: true}}
		r := open(t, net, stumbling{net})
		now := turn()
		if _, err := r.Do(t.Context(), now, chat.Typing{Place: place}); err == nil {
			t.Error("it was shown")
		}
		if status, answer := r.call(t, now, "send-reply", `{"message":"hi"}`); status != 400 || !strings.Contains(answer, "nobody can tell") {
			t.Error(status, answer)
		}
		if doubt, err := r.Doubt(t.Context(), "e1"); err != nil || !doubt || !r.Doubtful(now) {
			t.Error("it counts as said", doubt, err)
		}
	})
}

// refuse lets the ledger take no change of rows such as these, until what it returns is called.
func (r *rig) refuse(t *testing.T, such string) (end func()) {
	t.Helper()
	exec := func(text string) {
		t.Helper()
		err := r.deps.DB.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(text); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TRIGGER full BEFORE UPDATE ON outbox WHEN ` + such + ` BEGIN SELECT raise(ABORT, 'disk full'); END`)
	return func() { exec(`DROP TRIGGER full`) }
}

// A held message that went out is not said again because that could not be written down, while the bot runs or when it
// starts anew.
func TestAHeldMessageThatCouldNotBeRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		leave := r.keep(t)
		back := r.net.away()
		say(t, r, turn(), "one")
		free := r.refuse(t, `NEW.state = 'sent'`)
		back()
		time.Sleep(time.Minute)
		leave()
		free()
		r.reopen(t)
		r.recover(t)
		defer r.keep(t)()
		time.Sleep(time.Minute)
		if r.net.said() != "one" {
			t.Error(r.net.said())
		}
	})
}

// What cannot be held back is not said to be: nobody can tell, and the person is told so.
func TestAMessageThatCannotBeHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		gone := platform.Temporary{Err: errors.New("gone")}
		r.net.refuse = []error{gone, gone, gone}
		now := turn()
		defer r.refuse(t, `NEW.state = 'held'`)()
		if status, answer := r.call(t, now, "send-reply", `{"message":"one"}`); status == 200 || !r.Doubtful(now) {
			t.Error("it counts as said:", status, answer)
		}
	})
}

// Of a reply of which only the beginning can be held back nobody can tell.
func TestAReplyOfWhichTheRestCannotBeHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{MaxText: 10})
		r.net.away()
		now := turn()
		defer r.refuse(t, `NEW.state = 'held' AND NEW.key LIKE '%+1'`)()
		if status, answer := r.call(t, now, "send-reply", `{"message":"one two three four"}`); status == 200 || !strings.Contains(answer, "nobody can tell") || !r.Doubtful(now) {
			t.Error("it counts as said:", status, answer)
		}
	})
}

// What the last process may have said, and the disk does not let us settle, is in doubt.
func TestWhatCannotBeSettled(t *testing.T) {
	r := simple(t, chat.Abilities{})
	if _, _, err := r.ledger.begin(t.Context(), []row{newRow(turn(), "k", chat.Say{Place: place, Text: "one"})}); err != nil {
		t.Fatal(err)
	}
	defer r.refuse(t, `NEW.state = 'unknown'`)()
	if _, err := r.Recover(t.Context()); err == nil {
		t.Fatal("it was settled")
	}
	if doubt, err := r.Doubt(t.Context(), "e1"); err != nil || !doubt {
		t.Error("it counts as said", doubt, err)
	}
}

// slow is a network that takes its time from now on.
type slow struct {
	*network
	asked, free chan struct{}
}

func (s slow) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	s.asked <- struct{}{}
	<-s.free
	return s.network.Do(ctx, a)
}

// While a held message is tried again, what is new in its place stays behind it.
func TestWhatIsNewWaitsBehindATry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		back := r.net.away()
		say(t, r, turn(), "one")
		back()
		far := slow{r.net, make(chan struct{}), make(chan struct{})}
		r.deps.Platforms["net"] = far
		defer r.keep(t)()
		<-far.asked
		say(t, r, turn(), "two")
		close(far.free)
		<-far.asked
		synctest.Wait()
		if r.net.said() != "one|two" {
			t.Error(r.net.said())
		}
	})
}
