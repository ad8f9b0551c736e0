package host

import (
	"context"
	"errors"

	"familiar/internal/chat"
	"familiar/internal/outbox"
	"familiar/internal/phrase"
)

// outcome is what an event comes to where no reply of an agent does: the answer of a command, an apology, or that it
// was cut off. It is one kind of notice, so that a crash behind the one does not bring the other.
const outcome = "end"

// tell says something of the host's own to whoever caused an event: an apology, a command's answer, a place in
// line. It goes through the outbox like everything else. about makes the key: one event is told one thing of a
// kind once, over crashes too. It reports whether the words went out.
func (h *Host) tell(ctx context.Context, ev chat.Event, about, text string) bool {
	return h.notify(ctx, ev, about, text) == nil
}

// notify is tell for whoever waits for the disk: outbox.ErrUnwritten says that it refuses, and that it is worth while to
// tell again. The error is logged.
func (h *Host) notify(ctx context.Context, ev chat.Event, about, text string) error {
	t := chat.NewTurn(chat.Notice, ev, h.gate.Trust(ev), h.now())
	defer h.outbox.Forget(t)
	say := chat.Say{Place: ev.Place, Text: text, ReplyTo: ev.Message, Key: about + "." + string(ev.ID)}
	_, err := h.outbox.Do(ctx, t, say)
	if err != nil {
		h.log.Warn("a notice did not go out", chat.KeyEvent, ev.ID, "about", about, chat.KeyErr, err)
	}
	return err
}

// concluding tells what an event came to, unless that is "", and reports whether it may be finished. Where the disk refuses
// the words it may not: the next start settles it.
func (h *Host) concluding(ctx context.Context, ev chat.Event, text string) bool {
	return text == "" || !errors.Is(h.notify(ctx, ev, outcome, text), outbox.ErrUnwritten)
}

// conclude tells the last of some events what all of them came to, and finishes them. It reports whether it may.
func (h *Host) conclude(ctx context.Context, text string, evs ...chat.Event) bool {
	may := h.concluding(ctx, evs[len(evs)-1], text)
	if may {
		h.close(ctx, evs...)
	}
	return may
}

// lost tells whoever waits for an answer that nobody knows whether it arrived. Its turn is over; what a crash cut off with
// the turn itself is told for all that the turn had to answer, by cutOff.
func (h *Host) lost(ctx context.Context, l outbox.Lost) {
	if waits, err := h.inbox.Waits(ctx, l.Event); l.Cut && (waits || err != nil) {
		return
	}
	h.tell(ctx, chat.Event{ID: l.Event, Place: l.Place, Message: l.Answers}, outcome, h.phrases.Say(phrase.LostReply))
}

func (h *Host) tellPlaceInLine(ctx context.Context, ev chat.Event, ahead int) {
	h.tell(ctx, ev, "line", h.phrases.Say(phrase.InLine, ahead))
}

// show tells what a turn is doing, where the platform can show it. It is lossy.
func (h *Host) show(ctx context.Context, t chat.Turn, p chat.Progress) { h.shown(ctx, t, p) }

// shown is show for whoever would show it again: false says that the platform did not take it.
func (h *Host) shown(ctx context.Context, t chat.Turn, p chat.Progress) bool {
	if _, on := h.platforms[t.Place.Platform]; !on {
		return true // a session that nobody's message began is in no place of a network
	}
	_, err := h.outbox.Do(ctx, t, chat.Show{Place: t.Place, Turn: t.ID, Answers: t.Answers(), Progress: p})
	if err != nil {
		h.log.Debug("progress was not shown", chat.KeyTurn, t.ID, chat.KeyErr, err)
	}
	return err == nil
}
