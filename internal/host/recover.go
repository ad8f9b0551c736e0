package host

import (
	"context"

	"familiar/internal/chat"
	"familiar/internal/inbox"
	"familiar/internal/phrase"
	"familiar/internal/platform"
)

// left reads what the last process did not finish, and lets the platforms show what of it they had not shown. An
// answer to something that is shown nowhere could not be delivered.
func (h *Host) left(ctx context.Context) []inbox.Entry {
	left, err := h.inbox.Left(ctx)
	if err != nil {
		h.log.Error("some events of the last run could not be read", chat.KeyErr, err)
	}
	for _, e := range left {
		if p, ok := h.platforms[e.Event.Place.Platform].(platform.Witness); ok {
			if err := p.Heard(ctx, e.Event); err != nil {
				h.log.Error("an event of the last run is not shown", chat.KeyEvent, e.Event.ID, chat.KeyErr, err)
			}
		}
	}
	return left
}

// sweep removes what agents left in temporary folders when the last process died under them.
func (h *Host) sweep() {
	if err := h.folders.Sweep(); err != nil {
		h.log.Warn("some temporary folders of the last run stay", chat.KeyErr, err)
	}
}

// recover settles what the last process left behind, before anything is heard: first what was being sent, then
// the events. One that no turn had taken up is taken again; one that a turn had begun is not, since its tools
// may have had effects: the person is told, unless the answer had gone out.
func (h *Host) recover(ctx context.Context, left []inbox.Entry) error {
	lost, err := h.outbox.Recover(ctx)
	if err != nil {
		h.log.Error("some messages of the last run could not be settled", chat.KeyErr, err)
	}
	unsure := map[chat.EventID]bool{}
	for _, l := range lost {
		unsure[l.Event] = true
	}
	for _, e := range left {
		if err := h.resume(ctx, e, unsure[e.Event.ID]); err != nil {
			return err
		}
	}
	if len(left)+len(lost) > 0 {
		h.log.Info("settled what the last run left", "events", len(left), "messages", len(lost))
	}
	return nil
}

// resume settles one event.
func (h *Host) resume(ctx context.Context, e inbox.Entry, unsure bool) error {
	if !e.Begun() {
		if !h.commands.Take(ctx, e.Event, h.gate.Trust(e.Event)) {
			h.rooms.Resume(e.Event, h.gate.Trust(e.Event))
		}
		return nil
	}
	replied, err := h.outbox.Replied(ctx, e.Event.ID)
	if err != nil {
		return err
	}
	switch {
	case unsure:
		h.tell(ctx, e.Event, outcome, h.phrases.Say(phrase.LostReply))
	case !replied:
		h.tell(ctx, e.Event, outcome, h.phrases.Say(phrase.CutOff))
	}
	h.close(ctx, e.Event)
	return nil
}
