package room

import (
	"context"
	"slices"
	"strings"

	"familiar/internal/chat"
)

// Steer hands an event to the running turn of the same person in the same place, and reports whether that took it:
// it is then one of the turn's causes. False means that it has to wait in line: there is no such turn, something of
// theirs waits before it, it is more than words, or the turn is about to end.
func (rs *Rooms) Steer(ctx context.Context, ev chat.Event, trust chat.Trust) bool {
	t := rs.steerable(ev)
	if t == nil {
		return false
	}
	defer t.handing.Done()
	if err := rs.hooks.Handing(ctx, t.Turn, ev); err != nil {
		return false
	}
	t.Standing.Fall(trust)
	if err := rs.steer.Steer(t.ID, ev); err != nil {
		rs.hooks.Returned(ctx, ev)
		return false
	}
	rs.mu.Lock()
	t.handed = append(t.handed, ev)
	rs.mu.Unlock()
	rs.hooks.Handed(ctx, t.Turn, ev)
	return true
}

// steerable returns the turn that an event may be handed to, kept from being settled until its handing is done.
func (rs *Rooms) steerable(ev chat.Event) *turn {
	said, ok := ev.Body.(chat.Said)
	if rs.steer == nil || !ok || len(said.Attachments) > 0 || strings.TrimSpace(said.Text) == "" {
		return nil
	}
	key := rs.desk.Room(ev)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r, ok := rs.open[key]
	if !ok || r.turn == nil || r.turn.deaf || !together(r.turn.Cause[0], ev) {
		return nil
	}
	if slices.ContainsFunc(r.queue, func(w waiting) bool { return together(w.evs[0], ev) }) {
		return nil
	}
	r.turn.handing.Add(1)
	return r.turn
}
