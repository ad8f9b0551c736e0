package host

import (
	"context"
	"database/sql"
	"time"

	"familiar/internal/chat"
	"familiar/internal/phrase"
)

// How long an event that the disk refuses is held on to, where its network will not bring it again.
const (
	storeFirst = time.Second
	storeMost  = 16 * time.Second
	storeTries = 6
)

// accept makes an event durable. A network that brings it again after Busy is told at once that the disk refuses it;
// of any other it is tried some times more, while what comes after it in its place waits.
func (h *Host) accept(ctx context.Context, ev chat.Event, also []func(*sql.Tx) error) (fresh bool, err error) {
	wait := storeFirst
	for try := 1; ; try++ {
		fresh, err = h.inbox.Accept(ctx, ev, also...)
		if err == nil || h.redelivers(ev.Place.Platform) || try == storeTries {
			break
		}
		h.log.Warn("the disk refuses an event; it is tried again", chat.KeyEvent, ev.ID, "in", wait, chat.KeyErr, err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fresh, err
		case <-h.leaving:
			return fresh, err
		}
		wait = min(2*wait, storeMost)
	}
	if err != nil {
		h.log.Error("an event could not be stored and was not accepted", chat.KeyEvent, ev.ID,
			chat.KeyPlatform, ev.Place.Platform, chat.KeyErr, err)
	}
	return fresh, err
}

// full turns an accepted event away for which there is no room. Where its network will not bring it again, the person is
// told to.
func (h *Host) full(ctx context.Context, ev chat.Event, waiting int) chat.Outcome {
	h.log.Warn("a room is full", chat.KeyEvent, ev.ID, chat.KeyPlatform, ev.Place.Platform, "waiting", waiting)
	if !h.redelivers(ev.Place.Platform) {
		if h.conclude(ctx, h.phrases.Say(phrase.Busy), ev) {
			return chat.Refused
		}
	} else if err := h.inbox.Drop(ctx, ev, h.history.Unnoting(ev.Place, ev.Message)); err == nil {
		return chat.Busy
	} else {
		h.log.Error("an event is not let go of", chat.KeyEvent, ev.ID, chat.KeyErr, err)
	}
	h.log.Warn("an event is taken that there is no room for, because of the disk", chat.KeyEvent, ev.ID)
	h.rooms.Resume(h.gate.Trust, ev) // when it came again it would be a repeat, and nobody's
	return chat.Accepted
}

// redelivers reports whether a network brings an event again that was not accepted.
func (h *Host) redelivers(platform string) bool {
	p, on := h.platforms[platform]
	return on && p.Abilities().Redelivers
}
