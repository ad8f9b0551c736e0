package tool

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"familiar/internal/chat"
)

// A face that writes an answer hears of a loop only after it said that the answer is out; a plain call at once.
func TestLoopingWaitsForTheAnswer(t *testing.T) {
	type none struct{}
	say := New(Tool{Name: "say", Attempts: 1}, func(context.Context, chat.Turn, none) (none, error) { return none{}, nil })
	looped := 0
	seat := NewBox(nil, say).Seat("sess_1_a", []string{"say"}, func(string) { looped++ })
	seat.Begin(t.Context(), chat.NewTurn(chat.Talk, chat.Event{}, chat.Owner, time.Now()))
	call := func(ctx context.Context) {
		t.Helper()
		if _, err := seat.Call(ctx, "say", json.RawMessage(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, after := Answering(t.Context())
	call(ctx)
	call(ctx)
	if looped != 0 {
		t.Fatal("the loop was told before the answer was out")
	}
	after()
	if looped != 1 {
		t.Fatalf("told %d times after the answer", looped)
	}
	call(ctx)
	call(t.Context())
	if looped != 3 {
		t.Fatalf("told %d times, want at once when nothing is to be written", looped)
	}
}
