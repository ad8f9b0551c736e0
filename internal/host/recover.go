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
	messages, err := h.outbox.Recover(ctx)
	if err != nil {
		h.log.Error("some messages of the last run could not be settled", chat.KeyErr, err)
	}
	if err := h.approvals.Recover(ctx); err != nil {
		h.log.Error("some questions of the last run could not be settled", chat.KeyErr, err)
	}
	h.resume(ctx, left)
	for _, cut := range byTurn(left) {
		if err := h.cutOff(ctx, cut); err != nil {
			return err
		}
	}
	if len(left)+messages > 0 {
		h.log.Info("settled what the last run left", "events", len(left), "messages", messages)
	}
	return nil
}

// resume takes up again what no turn had taken up. An edit or a recall was carried out when it was accepted; a message
// that was edited while it waited is no command, whatever it says now.
func (h *Host) resume(ctx context.Context, left []inbox.Entry) {
	var wait []chat.Event
	for _, e := range left {
		if e.Begun() || h.reawake(ctx, e.Event) {
			continue
		}
		if e.Event.Concerns() != "" {
			h.close(ctx, e.Event)
			continue
		}
		ev, there := h.overtaken(ctx, e.Event)
		said, _ := ev.Body.(chat.Said)
		if there && (!said.Revised.IsZero() || !h.answers(ctx, ev) && !h.commands.Take(ctx, ev, h.gate.Trust(ev))) {
			wait = append(wait, ev)
		}
	}
	h.rooms.Resume(h.gate.Trust, wait...)
}

// byTurn returns what turns had taken up, what belongs to one turn together, in the order of arrival.
func byTurn(left []inbox.Entry) (turns [][]chat.Event) {
	at := map[chat.TurnID]int{}
	for _, e := range left {
		if !e.Begun() {
			continue
		}
		i, ok := at[e.Turn]
		if !ok {
			i = len(turns)
			at[e.Turn] = i
			turns = append(turns, nil)
		}
		turns[i] = append(turns[i], e.Event)
	}
	return turns
}

// cutOff settles what a turn that was cut off had to answer: one answer is an answer to all of it, and so is one
// sentence where there was none.
func (h *Host) cutOff(ctx context.Context, evs []chat.Event) error {
	if last := evs[len(evs)-1]; h.reported(ctx, last) || h.reawake(ctx, last) {
		return nil
	}
	replied, doubt := false, false
	for _, ev := range evs {
		answered, err := h.outbox.Replied(ctx, ev.ID)
		if err != nil {
			return err
		}
		unsure, err := h.outbox.Doubt(ctx, ev.ID)
		if err != nil {
			return err
		}
		replied, doubt = replied || answered, doubt || unsure
	}
	say := ""
	switch {
	case doubt:
		say = h.phrases.Say(phrase.LostReply)
	case !replied:
		say = h.phrases.Say(phrase.CutOff)
	}
	h.conclude(ctx, say, evs...)
	return nil
}
