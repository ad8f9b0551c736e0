package inbox

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"familiar/internal/chat"
)

func amendment(of chat.Event, at time.Duration, body chat.Body) chat.Event {
	ev := of
	ev.ID, ev.At, ev.Body = of.ID+chat.EventID(fmt.Sprint(body, at)), of.At.Add(at), body
	return ev
}

func edit(of chat.Event, at time.Duration, text string) chat.Event {
	return amendment(of, at, chat.Edited{Of: of.Message, Text: text})
}

func recall(of chat.Event) chat.Event {
	return amendment(of, time.Second, chat.Recalled{Of: of.Message})
}

func (b *bench) amend(ev chat.Event, want bool) {
	b.t.Helper()
	found := false
	err := b.db.Write(b.t.Context(), func(tx *sql.Tx) (err error) {
		found, err = b.in.Amend(tx, ev)
		return err
	})
	if err != nil || found != want {
		b.t.Fatalf("found: %v, want %v, %v", found, want, err)
	}
}

func (b *bench) left(want ...string) {
	b.t.Helper()
	left, err := b.in.Left(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	var got []string
	for _, e := range left {
		got = append(got, e.Event.Text())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.t.Fatalf("left: %q, want %q", got, want)
	}
}

// BUG-B10: an edit of what waits is what runs after a crash, in its place in line.
func TestAnEditOutlivesACrash(t *testing.T) {
	b := start(t)
	one, two := said("1", "one"), said("2", "two")
	b.accept(one)
	b.accept(two)
	b.amend(edit(one, 2*time.Second, "one, better"), true)
	b.amend(edit(one, time.Second, "one, older"), true)
	stranger := edit(two, 0, "not mine")
	stranger.From.ID = "mallory"
	b.amend(stranger, false)
	elsewhere := edit(two, 0, "not here")
	elsewhere.Place.ID = "q"
	b.amend(elsewhere, false)
	b.amend(edit(said("3", ""), 0, "of nothing"), false)
	b.restart()
	b.left("one, better", "two")
	if err := b.in.Finish(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	b.amend(edit(one, time.Hour, "late"), false)
	b.left("two")
}

// BUG-B10: what was taken back is finished, though a turn had begun: nobody is told of a crash then.
func TestARecallFinishes(t *testing.T) {
	b := start(t)
	one, two := said("1", "one"), said("2", "two")
	b.accept(one)
	b.accept(two)
	if err := b.in.Begin(t.Context(), chat.Turn{ID: "t", Cause: []chat.Event{two}}); err != nil {
		t.Fatal(err)
	}
	stranger := recall(one)
	stranger.From.ID = "mallory"
	b.amend(stranger, false)
	b.amend(recall(one), true)
	b.amend(recall(two), true)
	b.left()
	if b.accept(one) {
		t.Fatal("it came again")
	}
}

// An edit or a recall that comes before its message waits for it, over a restart too, and not for ever.
func TestTheEditBeforeTheMessage(t *testing.T) {
	b := start(t)
	one := said("1", "one")
	await := func(ev chat.Event) {
		t.Helper()
		if err := b.db.Write(t.Context(), func(tx *sql.Tx) error { return b.in.Await(tx, ev) }); err != nil {
			t.Fatal(err)
		}
	}
	overtaken := func(ev chat.Event, want int) []chat.Event {
		t.Helper()
		early, err := b.in.Overtaken(t.Context(), ev, func(*sql.Tx, chat.Event) error { return nil })
		if err != nil || len(early) != want {
			t.Fatal(early, err)
		}
		return early
	}
	overtaken(one, 0)
	stranger := edit(one, 0, "not mine")
	stranger.From.ID = "mallory"
	await(stranger)
	await(edit(one, time.Second, "better"))
	await(recall(one))
	b.restart()
	early := overtaken(one, 2)
	if early[0].Text() != "better" || early[1].Body.Kind() != chat.KindRecalled {
		t.Fatal(early)
	}
	overtaken(one, 0)
	if n := b.in.early.Load(); n != 0 {
		t.Fatal("it looks for what is not there", n)
	}
	await(edit(one, 0, "old"))
	b.at = b.at.Add(11 * time.Minute)
	await(edit(said("2", "two"), 0, "new"))
	overtaken(one, 0)
	for range earlyMost {
		await(edit(said("3", "three"), 0, "many"))
	}
	overtaken(said("2", "two"), 0)
	overtaken(said("3", "three"), earlyMost)
}

// An early edit is forgotten when it is carried out, and not before: a crash, or a disk that refuses, loses none.
func TestAnEarlyEditIsKeptUntilItIsCarriedOut(t *testing.T) {
	b := start(t)
	one := said("1", "one")
	if err := b.db.Write(t.Context(), func(tx *sql.Tx) error { return b.in.Await(tx, edit(one, time.Second, "better")) }); err != nil {
		t.Fatal(err)
	}
	b.accept(one)
	full := errors.New("disk full")
	if early, err := b.in.Overtaken(t.Context(), one, func(*sql.Tx, chat.Event) error { return full }); !errors.Is(err, full) || len(early) != 1 {
		t.Fatal(early, err)
	}
	b.restart()
	early, err := b.in.Overtaken(t.Context(), one, func(tx *sql.Tx, a chat.Event) error { _, err := b.in.Amend(tx, a); return err })
	if err != nil || len(early) != 1 {
		t.Fatal("it was forgotten:", early, err)
	}
	b.restart()
	b.left("better")
}

// What a turn did not take after all had not begun.
func TestReturn(t *testing.T) {
	b := start(t)
	one, two := said("1", "one"), said("2", "two")
	b.accept(one)
	b.accept(two)
	if err := b.in.Begin(t.Context(), chat.Turn{ID: "t", Cause: []chat.Event{one, two}}); err != nil {
		t.Fatal(err)
	}
	if err := b.in.Finish(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	if err := b.in.Return(t.Context(), one, two); err != nil {
		t.Fatal(err)
	}
	left, err := b.in.Left(t.Context())
	if err != nil || len(left) != 1 || left[0].Begun() {
		t.Fatal(left, err)
	}
}
