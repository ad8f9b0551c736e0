package outbox

import (
	"strings"
	"testing"

	"familiar/internal/chat"
)

// BUG-B10: a turn whose message was taken back lets nothing more out, and says whether it had.
func TestSilence(t *testing.T) {
	r := simple(t, chat.Abilities{React: true, Edit: true})
	quiet := turn()
	if !r.Silence(quiet) {
		t.Fatal("it had let nothing out")
	}
	if status, say := r.call(t, quiet, "send-reply", `{"message":"late"}`); status != 410 || !strings.Contains(say, "Stop") {
		t.Fatal(status, say)
	}
	if r.answered(quiet) {
		t.Fatal("a reply that was refused counts")
	}
	spoken := turn()
	if status, _ := r.call(t, spoken, "send-reply", `{"message":"hi"}`); status != 200 {
		t.Fatal(status)
	}
	if r.Silence(spoken) {
		t.Fatal("it had let something out")
	}
	for name, args := range map[string]string{"edit-reply": `{"messageId":"m0","message":"more"}`, "react-message": `{"emoji":"👍"}`} {
		if status, _ := r.call(t, spoken, name, args); status != 410 {
			t.Error(name, status)
		}
	}
	if said := r.net.said(); said != "hi" || !r.answered(spoken) {
		t.Fatal(said)
	}
}

// BUG-B10: a reply to several messages hangs on none that is gone.
func TestDetach(t *testing.T) {
	r := simple(t, chat.Abilities{React: true})
	now := turn()
	r.Detach(now, "q1")
	if status, _ := r.call(t, now, "react-message", `{"emoji":"👍"}`); status != 400 {
		t.Fatal(status)
	}
	if status, _ := r.call(t, now, "send-reply", `{"message":"hi"}`); status != 200 {
		t.Fatal(status)
	}
	if say := r.net.got[0].(chat.Say); say.ReplyTo != "" {
		t.Fatal("it answers what is gone", say)
	}
}
