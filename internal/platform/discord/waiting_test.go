package discord

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
)

// Discord tells an event once. What there was no room for is handed in again, in the order of its place, and holds up
// no other place; after an hour nobody waits for it any more.
func TestWhatThereWasNoRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := map[string]int{"1": 1, "2": 9}
		var took []string
		g := &gateway{Discord: &Discord{log: slog.New(slog.DiscardHandler)}}
		g.hear = func(_ context.Context, ev chat.Event) chat.Outcome {
			if room[ev.Place.ID] == 0 {
				return chat.Busy
			}
			room[ev.Place.ID]--
			took = append(took, ev.Text())
			return chat.Accepted
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); g.retry(ctx) }()
		say := func(channel, text string) {
			g.handIn(ctx, chat.Event{ID: chat.EventID(text), At: time.Now(), Place: place(channel, "9"), Body: chat.Said{Text: text}})
		}
		space := func(n int) {
			g.waiting.mu.Lock()
			defer g.waiting.mu.Unlock()
			room["1"] = n
		}
		for _, text := range []string{"a", "b", "c"} {
			say("1", text)
		}
		say("2", "elsewhere")
		time.Sleep(12 * time.Second)
		space(1)
		say("1", "d") // behind what waits, although there is room
		time.Sleep(6 * time.Second)
		space(9)
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if want := []string{"a", "elsewhere", "b", "c", "d"}; !slices.Equal(took, want) {
			t.Errorf("taken %q, want %q", took, want)
		}
		space(0)
		say("1", "late")
		time.Sleep(2 * time.Hour)
		cancel()
		<-ended
		if len(g.waiting.events) != 0 || len(took) != 5 {
			t.Errorf("%d still wait, taken %q", len(g.waiting.events), took)
		}
	})
}
