package host

import (
	"context"
	"database/sql"
	"errors"

	"familiar/internal/chat"
	"familiar/internal/phrase"
	"familiar/internal/room"
)

// errStrange ends the transaction of an edit or a recall of a message that was never for us.
var errStrange = errors.New("it is about no message of ours")

// amend is the way of an edit or a recall: what is kept of the message changes durably, then what waits or runs. Its
// own entry in the inbox makes a repeat known, and is finished at once.
func (h *Host) amend(ctx context.Context, ev chat.Event) chat.Outcome {
	fresh, err := h.inbox.Accept(ctx, ev, func(tx *sql.Tx) error { return h.amendKept(tx, ev) })
	switch {
	case errors.Is(err, errStrange):
		return chat.Ignored
	case err != nil:
		h.log.Error("an edit could not be stored and was not accepted", chat.KeyEvent, ev.ID,
			chat.KeyPlatform, ev.Place.Platform, chat.KeyErr, err)
		return chat.Busy
	case !fresh:
		return chat.Repeat
	}
	if ev.Body.Kind() == chat.KindEdited {
		h.edited(ctx, h.rooms.Edit(ev))
	} else {
		h.recalled(ctx, h.rooms.Recall(ev))
	}
	h.close(ctx, ev)
	return chat.Accepted
}

// amendKept changes what is on the disk. What is not there may still come, if it is for us.
func (h *Host) amendKept(tx *sql.Tx, ev chat.Event) error {
	waits, err := h.inbox.Amend(tx, ev)
	if err != nil {
		return err
	}
	known, err := h.history.Amend(tx, ev)
	switch {
	case err != nil || waits || known:
		return err
	case ev.Addressed:
		return h.inbox.Await(tx, ev)
	}
	return errStrange
}

// edited asks the person once what to do about a message that is being worked on. One that is answered already is
// history.
func (h *Host) edited(ctx context.Context, found room.Found) {
	if found.Fate != room.AtWork {
		return
	}
	if h.outbox.Deeds(found.Turn).Any() {
		return
	}
	h.tell(ctx, found.Event, "edited", h.phrases.Say(phrase.EditedAtWork))
}

// recalled ends the turn of a message that is gone, if it let nothing out yet; what it did let out stays, and nothing
// is added. A turn that has other messages to answer goes on without this one.
func (h *Host) recalled(ctx context.Context, found room.Found) {
	switch found.Fate {
	case room.Past:
	case room.InLine:
		h.close(ctx, found.Event)
	case room.AtWork:
		h.outbox.Detach(found.Turn, found.Event.Message)
	case room.AllGone:
		if h.outbox.Silence(found.Turn) {
			h.rooms.Cancel(found.Turn.ID, chat.ErrRecalled)
		}
	}
}

// overtaken carries out the edits and recalls of an accepted message that came before it, and reports whether it is
// still there.
func (h *Host) overtaken(ctx context.Context, ev chat.Event) (chat.Event, bool) {
	early, err := h.inbox.Overtaken(ctx, ev, func(tx *sql.Tx, a chat.Event) error {
		_, err := h.inbox.Amend(tx, a)
		if err == nil {
			_, err = h.history.Amend(tx, a)
		}
		return err
	})
	if err != nil {
		h.log.Error("what was edited before it came is not kept", chat.KeyEvent, ev.ID, chat.KeyErr, err)
	}
	for _, a := range early {
		if a.Body.Kind() == chat.KindRecalled {
			h.close(ctx, ev)
			return ev, false
		}
		ev, _ = ev.Amend(a)
	}
	return ev, true
}
