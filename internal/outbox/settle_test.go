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

// losses lets the rig remember what is told to be lost, and say something in its place as the host does.
func (r *rig) losses(t *testing.T) *[]Lost {
	t.Helper()
	var all []Lost
	r.deps.Lost = func(ctx context.Context, l Lost) {
		all = append(all, l)
		notice := turn()
		notice.Kind = chat.Notice
		if _, err := r.Do(ctx, notice, chat.Say{Place: l.Place, Text: "lost", Key: "end." + string(l.Event)}); err != nil {
			t.Error(err)
		}
	}
	r.reopen(t)
	return &all
}

// Of a held message of which nobody can tell any more the person is told, once, though its turn is long over.
func TestHeldAndThenLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{MaxText: 10})
		all := r.losses(t)
		defer r.keep(t)()
		gone, maybe := platform.Temporary{Err: errors.New("gone")}, platform.Uncertain{Err: errors.New("time is over")}
		r.net.refuse = []error{gone, gone, gone, maybe, maybe}
		if _, err := r.Do(t.Context(), turn(), chat.Say{Place: place, Text: "one two three four", ReplyTo: "q1"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(*all) != 2 || (*all)[0] != (Lost{"e1", place, "q1", false}) || r.net.said() != "lost" {
			t.Error(*all, r.net.said())
		}
	})
}

// A crash while a held message is tried: the person is told; where it is a word of the host's own nobody misses it.
func TestACrashLosesAHeldMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		back := r.net.away()
		notice := turn()
		notice.Kind = chat.Notice
		say(t, r, turn(), "one")
		say(t, r, notice, "sorry")
		back()
		rows, err := r.ledger.in(t.Context(), held)
		if err != nil || len(rows) != 2 {
			t.Fatal(rows, err)
		}
		if err := r.ledger.settle(t.Context(), pending, rows...); err != nil {
			t.Fatal(err)
		}
		all := r.losses(t)
		r.recover(t)
		if len(*all) != 1 || !(*all)[0].Cut || r.net.said() != "lost" {
			t.Error(*all, r.net.said())
		}
	})
}

// What a network took at a later try, and did not say so, is found there.
func TestHeldAndThenFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &network{}
		r := open(t, net, late{net, time.Now().Add(heldEvery)})
		all := r.losses(t)
		defer r.keep(t)()
		gone := platform.Temporary{Err: errors.New("gone")}
		net.refuse = []error{gone, gone, gone, platform.Uncertain{Err: errors.New("time is over")}}
		say(t, r, turn(), "the answer")
		time.Sleep(time.Minute)
		synctest.Wait()
		if n, err := r.Unknown(t.Context()); err != nil || n != 0 || len(*all) != 0 || net.said() != "" {
			t.Error(n, err, *all, net.said())
		}
	})
}

// A bot that leaves while it looks for what was lost does not stay for it: the next start tells.
func TestLeavingWhileALostMessageIsLookedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &network{}
		r := open(t, net, late{network: net})
		leave := r.keep(t)
		gone := platform.Temporary{Err: errors.New("gone")}
		net.refuse = []error{gone, gone, gone, platform.Uncertain{Err: errors.New("time is over")}}
		say(t, r, turn(), "the answer")
		time.Sleep(2*heldEvery - time.Second) // it is tried at the second look, and looked for a second later
		left := time.Now()
		leave()
		if took := time.Since(left); took != 0 {
			t.Error("it stayed", took)
		}
		all := r.losses(t)
		r.recover(t)
		if len(*all) != 1 || net.said() != "lost" {
			t.Error(*all, net.said())
		}
	})
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
