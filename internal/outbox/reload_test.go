package outbox

import (
	"strings"
	"testing"

	"familiar/internal/chat"
)

// Another form counts from the next reply on.
func TestReload(t *testing.T) {
	r := simple(t, chat.Abilities{MaxText: 20})
	long := `{"message":"` + strings.Repeat("word ", 30) + `"}`
	if status, answer := r.call(t, turn(), "send-reply", long); status != 200 || len(r.net.got) != 5 {
		t.Fatalf("%d messages, %d %s", len(r.net.got), status, answer)
	}
	r.Outbox.Reload(Config{MaxParts: 1, Overflow: Truncate})
	ev := chat.Event{ID: "e2", Place: place, From: chat.Person{Platform: "net", ID: "ann"}, Message: "q2", Body: chat.Said{Text: "?"}}
	if status, answer := r.call(t, chat.NewTurn(chat.Talk, ev, chat.Owner, turn().Began), "send-reply", long); status != 200 || len(r.net.got) != 6 {
		t.Fatalf("%d messages, %d %s", len(r.net.got), status, answer)
	}
}
