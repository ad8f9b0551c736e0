package discord

import (
	"context"
	"slices"
	"sync"
	"time"

	"familiar/internal/chat"
)

// How what there was no room for is handed in again: Discord itself tells it only once.
const (
	againEvery  = 5 * time.Second
	mostWaiting = 1000
)

// waiting are events that were answered with Busy, in order. Its mutex is also what lets one event be heard at a time.
type waiting struct {
	mu     sync.Mutex
	events []chat.Event
}

// handIn hands an event in, behind those of its place that wait.
func (g *gateway) handIn(ctx context.Context, ev chat.Event) {
	w := &g.Discord.waiting
	w.mu.Lock()
	defer w.mu.Unlock()
	behind := slices.ContainsFunc(w.events, func(e chat.Event) bool { return e.Place.Same(ev.Place) })
	if !behind && g.heard(ctx, ev) {
		return
	}
	if len(w.events) >= mostWaiting {
		g.log.Error("an event is lost: too many wait", chat.KeyEvent, ev.ID)
		return
	}
	w.events = append(w.events, ev)
}

// heard reports whether an event need not be handed in again.
func (g *gateway) heard(ctx context.Context, ev chat.Event) bool {
	outcome := g.hear(ctx, ev)
	if outcome == chat.Accepted && ev.Body.Kind() == chat.KindSaid {
		g.mark(ctx, ev)
	}
	return outcome != chat.Busy
}

// retry hands in what waits, until ctx ends: the next of each place, and the ones behind it when there was room.
func (g *gateway) retry(ctx context.Context) {
	tick := time.NewTicker(againEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		w := &g.Discord.waiting
		w.mu.Lock()
		full := map[string]bool{}
		w.events = slices.DeleteFunc(w.events, func(ev chat.Event) bool {
			if full[ev.Place.ID] || ctx.Err() != nil {
				return false
			}
			full[ev.Place.ID] = time.Since(ev.At) < missedFor && !g.heard(ctx, ev)
			return !full[ev.Place.ID]
		})
		w.mu.Unlock()
	}
}
