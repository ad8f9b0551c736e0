package inbox

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/sqlite"
)

type bench struct {
	t    *testing.T
	path string
	at   time.Time
	db   *sqlite.DB
	in   *Inbox
}

func start(t *testing.T) *bench {
	b := &bench{t: t, path: filepath.Join(t.TempDir(), "a.db"), at: time.UnixMilli(1e12)}
	b.restart()
	t.Cleanup(func() { _ = b.db.Close() })
	return b
}

// restart closes the database, if open, and opens it as the next process would.
func (b *bench) restart() {
	b.t.Helper()
	if b.db != nil {
		if err := b.db.Close(); err != nil {
			b.t.Fatal(err)
		}
	}
	var err error
	if b.db, err = sqlite.Open(b.t.Context(), b.path); err != nil {
		b.t.Fatal(err)
	}
	if b.in, err = Open(b.t.Context(), b.db, func() time.Time { return b.at }); err != nil {
		b.t.Fatal(err)
	}
}

func said(id, text string) chat.Event {
	return chat.Event{ID: chat.EventID(id), At: time.UnixMilli(1e12).UTC(), Message: chat.MessageID(id),
		Place: chat.Place{Platform: "web", ID: "p", Kind: chat.Direct},
		From:  chat.Person{Platform: "web", ID: "owner"}, Body: chat.Said{Text: text}}
}

func (b *bench) accept(ev chat.Event) bool {
	b.t.Helper()
	fresh, err := b.in.Accept(b.t.Context(), ev)
	if err != nil {
		b.t.Fatal(err)
	}
	return fresh
}

// AF-63: a message that is delivered again, while it runs or up to eight hours later, is dropped.
func TestARepeatIsKnownForEightHours(t *testing.T) {
	b := start(t)
	one := said("1", "hello")
	if !b.accept(one) || b.accept(one) {
		t.Fatal("a repeat of a waiting event must be refused")
	}
	if err := b.in.Finish(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	b.at = b.at.Add(Remembered - time.Minute)
	b.restart()
	if b.accept(one) {
		t.Fatal("a repeat was taken before eight hours were over")
	}
	b.at = b.at.Add(2 * time.Minute)
	b.restart() // the first accept of a process prunes
	b.accept(said("2", "x"))
	if !b.accept(one) {
		t.Fatal("the id was kept for ever")
	}
}

func TestLeftIsWhatWasNotFinished(t *testing.T) {
	b := start(t)
	for _, id := range []string{"c", "a", "b"} {
		b.accept(said(id, "text of "+id))
	}
	turn := chat.NewTurn(chat.Talk, said("a", ""), chat.Owner, b.at)
	if err := b.in.Begin(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	if err := b.in.Finish(t.Context(), said("c", "")); err != nil {
		t.Fatal(err)
	}
	b.restart()
	left, err := b.in.Left(t.Context())
	if err != nil || len(left) != 2 {
		t.Fatalf("left %v, %v", left, err)
	}
	if left[0].Turn != turn.ID || !left[0].Begun() || left[0].Event.Text() != "text of a" || left[1].Begun() {
		t.Fatalf("left %+v", left)
	}
	var kept int
	if err := b.db.Read().QueryRow(`SELECT count(*) FROM inbox WHERE event LIKE '%text of c%'`).Scan(&kept); err != nil || kept != 0 {
		t.Fatal("the words of a finished event were kept", err)
	}
}

func TestAcceptStoresNothingWhenWhatGoesAlongFails(t *testing.T) {
	b := start(t)
	failed := errors.New("disk full")
	if _, err := b.in.Accept(t.Context(), said("1", "x"), func(*sql.Tx) error { return failed }); !errors.Is(err, failed) {
		t.Fatalf("got %v", err)
	}
	if !b.accept(said("1", "x")) {
		t.Fatal("half of it was stored")
	}
}

func TestOneOfManyAtOnceIsNew(t *testing.T) {
	b := start(t)
	var fresh atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if ok, err := b.in.Accept(t.Context(), said("same", "x")); err != nil {
				t.Error(err)
			} else if ok {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	if fresh.Load() != 1 {
		t.Fatalf("%d were new", fresh.Load())
	}
}

func TestABrokenEntryDoesNotHideTheOthers(t *testing.T) {
	b := start(t)
	b.accept(said("1", "x"))
	b.accept(said("2", "y"))
	if err := b.db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`UPDATE inbox SET event = '{"kind":"dreamt"}' WHERE id = '1'`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	left, err := b.in.Left(t.Context())
	if err == nil || len(left) != 1 || left[0].Event.ID != "2" {
		t.Fatalf("left %v, %v", left, err)
	}
	if left, err = b.in.Left(t.Context()); err != nil || len(left) != 1 {
		t.Fatalf("the broken entry came again: %v, %v", left, err)
	}
}

func TestADroppedEventIsNewAgain(t *testing.T) {
	b := start(t)
	one := said("1", "hello")
	b.accept(one)
	undone := false
	if err := b.in.Drop(t.Context(), one, func(*sql.Tx) error { undone = true; return nil }); err != nil || !undone {
		t.Fatal(err)
	}
	if !b.accept(one) {
		t.Fatal("its redelivery was refused")
	}
}

// BUG-C12: however many events came between, the ids of the latest are known: nothing is cleared because it is full.
func TestManyEventsMakeNoneForgotten(t *testing.T) {
	b := start(t)
	const many = 1001
	for i := range many {
		ev := said(fmt.Sprint(i), "x")
		if !b.accept(ev) {
			t.Fatal(i, "is no repeat")
		}
		if err := b.in.Finish(t.Context(), ev); err != nil {
			t.Fatal(err)
		}
	}
	b.restart()
	for i := range many {
		if b.accept(said(fmt.Sprint(i), "x")) {
			t.Fatal(i, "passed again")
		}
	}
}
