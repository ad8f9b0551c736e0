package history

import (
	"database/sql"
	"testing"
	"time"

	"familiar/internal/chat"
)

// BUG-B10: history tells an old message as its author left it, and what was taken back not at all.
func TestAmend(t *testing.T) {
	r := open(t)
	amend := func(from chat.Person, at time.Duration, body chat.Body, want bool) {
		t.Helper()
		ev := chat.Event{Place: here, From: from, At: r.at.Add(at), Body: body}
		changed := false
		err := r.db.Write(t.Context(), func(tx *sql.Tx) (err error) {
			changed, err = r.Amend(tx, ev)
			return err
		})
		if err != nil || changed != want {
			t.Fatalf("%v: changed %v, want %v, %v", body, changed, want, err)
		}
	}
	r.note(t, here, "1", "one", owner)
	r.note(t, here, "2", "two", owner)
	r.note(t, here, "3", "ours", us)
	mallory := chat.Person{Platform: "web", ID: "mallory"}
	amend(mallory, 0, chat.Edited{Of: "1", Text: "not mine"}, false)
	amend(mallory, 0, chat.Recalled{Of: "1"}, false)
	amend(owner, time.Hour, chat.Edited{Of: "1", Text: "one, better"}, true)
	amend(owner, time.Minute, chat.Edited{Of: "1", Text: "one, older"}, false)
	amend(owner, 0, chat.Recalled{Of: "2"}, true)
	amend(owner, 0, chat.Edited{Of: "2", Text: "gone"}, false)
	amend(owner, 0, chat.Said{Text: "no amendment"}, false)
	said, err := r.Before(t.Context(), here, "", 10)
	if err != nil || len(said) != 2 || said[0].Text != "one, better" || said[1].Text != "ours" || !said[0].From.Same(owner) {
		t.Fatal(said, err)
	}
}
