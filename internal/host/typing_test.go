package host

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
)

// AF-66: typing is shown at 0, 10 and 20 s of a session of 25 s, and never after its end.
func TestTypingLastsAsLongAsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		var shown []time.Duration
		y := &typist{show: func(context.Context, chat.Turn) bool {
			mu.Lock()
			defer mu.Unlock()
			shown = append(shown, time.Since(began))
			return true
		}}
		turn := chat.Turn{ID: "t"}
		y.begin(t.Context(), turn)
		time.Sleep(25 * time.Second)
		y.end(turn)
		time.Sleep(time.Minute)
		if want := []time.Duration{0, 10 * time.Second, 20 * time.Second}; !slices.Equal(shown, want) {
			t.Errorf("shown at %v, want %v", shown, want)
		}
		y.end(turn) // of a turn that never began
	})
}

// A network that does not answer, or cannot show it, holds no turn up.
func TestTypingHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, n := time.Now(), 0
		y := &typist{show: func(ctx context.Context, turn chat.Turn) bool {
			n++
			if turn.ID == "hangs" {
				<-ctx.Done()
			}
			return turn.ID != "cannot"
		}}
		for _, id := range []chat.TurnID{"hangs", "cannot"} {
			y.begin(t.Context(), chat.Turn{ID: id})
			time.Sleep(15 * time.Second)
			y.end(chat.Turn{ID: id})
		}
		if took := time.Since(began); took != 30*time.Second || n != 2 {
			t.Errorf("took %v, shown %d times", took, n)
		}
	})
}

// BUG-E13: while a turn waits for a person, nobody writes. Two questions at once are two to wait for.
func TestTypingPausesWhileAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var shown []time.Duration
		y := &typist{show: func(context.Context, chat.Turn) bool {
			shown = append(shown, time.Since(began))
			return true
		}}
		turn := chat.Turn{ID: "t"}
		y.begin(t.Context(), turn)
		time.Sleep(5 * time.Second)
		first, second := y.pause(turn), y.pause(turn)
		time.Sleep(5 * time.Minute)
		first()
		time.Sleep(5 * time.Minute)
		second()
		time.Sleep(10 * time.Second)
		y.end(turn)
		if want := []time.Duration{0, 10*time.Minute + 10*time.Second}; !slices.Equal(shown, want) {
			t.Errorf("shown at %v, want %v", shown, want)
		}
		y.pause(turn)() // of a turn that has ended
	})
}
