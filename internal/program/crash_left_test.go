package program

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/inbox"
	"familiar/internal/sqlite"
)

// What a kill can leave in moments that are too short to be met by chance: an event that was accepted and is on no
// stream, in a session that nobody else knows; then one whose outcome was told and that was not finished.
func TestCrashBetweenTwoWrites(t *testing.T) {
	b := newBot(t, "version: 1\n", "GORACE=atexit_sleep_ms=0")
	b.start()
	b.stop()
	place := chat.Place{Platform: "web", ID: "s_0123456789abcdef0123456789abcdef", Kind: chat.Direct}
	ev := chat.Event{ID: "e", At: time.Now().UTC(), Place: place, From: chat.Person{Platform: "web", ID: "owner"}, Message: "u_1",
		Addressed: true, Body: chat.Said{Text: "/remember tea"}}
	leftover := filepath.Join(b.dir, "data", "workspaces", "web", "owner", "tmp", "sess_left.home")
	if err := os.MkdirAll(leftover, 0o700); err != nil {
		t.Fatal(err)
	}
	b.change(func(db *sqlite.DB) error {
		in, err := inbox.Open(t.Context(), db, time.Now)
		if err == nil {
			_, err = in.Accept(t.Context(), ev)
		}
		return err
	})

	b.start()
	want := "session.started | message.received /remember tea | turn.started | message.completed I will remember that. `"
	ended := func(events []event) bool { return events[len(events)-1].Type == "session.waiting" }
	events := b.follow(place.ID, ended)
	if got := summary(events); !strings.HasPrefix(got, want) {
		t.Fatalf("got %s\nwant %s", got, want)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(leftover); os.IsNotExist(err) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the temporary folder of a dead agent stays")
		}
	}
	b.stop()

	text, err := json.Marshal(ev)
	if err != nil {
		t.Fatal(err)
	}
	b.change(func(db *sqlite.DB) error {
		return db.Write(t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), `UPDATE inbox SET state = 'begun', event = ?`, text)
			return err
		})
	})
	b.start()
	b.stop()
	b.start()
	if got := summary(b.follow(place.ID, ended)); strings.Count(got, "message.completed") != 1 {
		t.Fatalf("got %s", got)
	}
	after := b.ask(t.Context(), "POST", "/v1/sessions/"+place.ID, `{"message":"/recall tea"}`, 202)
	_ = after.Body.Close()
	got := summary(b.follow(place.ID, func(events []event) bool { return strings.Count(summary(events), "message.completed") == 2 }))
	if !strings.Contains(got, "message.completed - tea `") {
		t.Fatalf("got %s", got)
	}
}

// change opens the database of a bot that does not run.
func (b *bot) change(do func(*sqlite.DB) error) {
	b.t.Helper()
	db, err := sqlite.Open(b.t.Context(), filepath.Join(b.dir, "state", "familiar.db"))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := do(db); err != nil {
		b.t.Error(err)
	}
	if err := db.Close(); err != nil {
		b.t.Fatal(err)
	}
}
