package remind

import (
	"fmt"
	"testing"
	"time"

	"familiar/internal/chat"
)

// A try that was put off before the wall clock was put back is not put off until then.
func TestTheWallClockIsPutBack(t *testing.T) {
	r := open(t)
	if _, err := r.Set(t.Context(), ann, "dm", r.at.Add(time.Hour), "tea"); err != nil {
		t.Fatal(err)
	}
	right := r.at.Add(time.Hour)
	r.at = right.AddDate(1, 0, 0)
	due, err := r.Due(t.Context())
	if err == nil {
		_, err = r.Failed(due[0])
	}
	if err != nil || len(r.due()) != 0 {
		t.Fatal("it is tried at once again:", err)
	}
	r.at = right
	if due := r.due(); len(due) != 1 {
		t.Error(due)
	}
}

// Many reminders of one instant are all due, each once, those of one person in the order in which they were set.
func TestManyAtOneInstant(t *testing.T) {
	r := open(t)
	r.cfg.MaxRemindersPerUser = 60
	at := r.at.Add(time.Hour)
	for i := range 60 {
		for _, p := range []chat.Person{ann, bob} {
			if _, err := r.Set(t.Context(), p, "dm", at, fmt.Sprintf("%s %03d", p.ID, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.at = at
	due, err := r.Due(t.Context())
	if err != nil || len(due) != 120 || due[0].Message != "1 000" || due[59].Message != "1 059" || due[60].Message != "2 000" {
		t.Fatal(len(due), err)
	}
	for i, one := range due {
		if err := r.Close(one); err != nil {
			t.Fatal(err)
		}
		if i == 19 && len(r.due()) != 100 {
			t.Error("another one was closed:", len(r.due()))
		}
	}
	if left := r.due(); len(left) != 0 {
		t.Error(left)
	}
}
