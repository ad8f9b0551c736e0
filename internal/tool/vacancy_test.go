package tool

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"familiar/internal/chat"
)

// A place that is kept free shows its tools and refuses its calls; taken, it calls for whoever took it, and nobody
// else can take it.
func TestVacancy(t *testing.T) {
	type in struct {
		Text string `json:"text"`
	}
	box := NewBox(nil, New(Tool{Name: "note", Doc: "Notes.", Effect: Writes},
		func(_ context.Context, turn chat.Turn, n in) (in, error) { return in{turn.From.ID + " " + n.Text}, nil }))
	seat := box.Seat("sess_1", []string{"note"}, func(string) {})
	v := NewVacancy("sess_1", seat.Tools())
	call := func() (string, error) {
		r, err := v.Call(t.Context(), "note", json.RawMessage(`{"text":"tea"}`))
		return string(r.Data), err
	}
	if _, err := call(); !errors.Is(err, ErrNoTurn) {
		t.Errorf("a call before anybody came: %v, want ErrNoTurn", err)
	}
	if len(v.Tools()) != 1 || v.Session() != "sess_1" {
		t.Errorf("it shows %d tools under %s", len(v.Tools()), v.Session())
	}
	for name, other := range map[string]Caller{"nobody": nil, "another session": box.Seat("sess_2", nil, nil)} {
		if v.Take(other) == nil {
			t.Errorf("taken by %s", name)
		}
	}
	if err := v.Take(seat); err != nil {
		t.Fatal(err)
	}
	if v.Take(seat) == nil {
		t.Error("taken twice")
	}
	if _, err := call(); !errors.Is(err, ErrNoTurn) {
		t.Errorf("a call outside a turn: %v, want ErrNoTurn", err)
	}
	seat.Begin(t.Context(), chat.NewTurn(chat.Talk, chat.Event{From: chat.Person{Platform: "web", ID: "ann"}}, chat.Owner, time.Now()))
	defer seat.End()
	if got, err := call(); err != nil || got != `{"text":"ann tea"}` {
		t.Errorf("the call gave %s, %v", got, err)
	}
}
