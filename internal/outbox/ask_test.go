package outbox

import (
	"strings"
	"testing"

	"familiar/internal/chat"
)

// A question has buttons where the network has them, else words; only the host asks, and no secret goes along.
func TestAsking(t *testing.T) {
	host := turn()
	host.Kind = chat.Notice
	ask := chat.Ask{Place: place, Text: "May I send hunter2hunter2?", Words: "Say `/yes x`.", Key: "ask.x.1",
		Options: []chat.Option{{ID: "b", Label: "Yes"}}}

	with := simple(t, chat.Abilities{Buttons: true, MaxText: 12})
	for range 2 { // the same key is the same question
		if _, err := with.Do(t.Context(), host, ask); err != nil {
			t.Fatal(err)
		}
	}
	if len(with.net.got) != 1 {
		t.Fatalf("it came %d times", len(with.net.got))
	}
	got, ok := with.net.got[0].(chat.Ask)
	if !ok || len(got.Options) != 1 || len([]rune(got.Text)) > 12 || len(with.noted) != 1 {
		t.Errorf("with buttons: %+v, noted %q", with.net.got[0], with.noted)
	}
	if _, err := with.Do(t.Context(), turn(), ask); err == nil {
		t.Error("an agent's turn asked")
	}

	without := simple(t, chat.Abilities{})
	if _, err := without.Do(t.Context(), host, ask); err != nil {
		t.Fatal(err)
	}
	if said := without.net.said(); strings.Contains(said, "hunter2") || !strings.HasSuffix(said, "\n\nSay `/yes x`.") {
		t.Errorf("without buttons: %q", said)
	}
}

// A question that a crash left pending can be read again.
func TestAQuestionThatWasLeft(t *testing.T) {
	r := simple(t, chat.Abilities{Buttons: true, Idempotent: true})
	host := turn()
	host.Kind = chat.Notice
	left := newRow(host, "ask.x.1", chat.Ask{Place: place, Text: "May I?", Options: []chat.Option{{ID: "b", Label: "Yes"}}})
	if _, _, err := r.ledger.begin(t.Context(), []row{left}); err != nil {
		t.Fatal(err)
	}
	r.reopen(t)
	if lost := r.recover(t); lost || r.net.said() != "May I?" {
		t.Errorf("it may be lost: %v, said %q", lost, r.net.said())
	}
}
