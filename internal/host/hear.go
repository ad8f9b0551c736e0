package host

import (
	"context"
	"database/sql"
	"log/slog"

	"familiar/internal/chat"
	"familiar/internal/gate"
)

// hear is the one way in: the spine, from top to bottom. Every source calls it, on its own goroutine; it
// returns when the event is durable or turned away, and never waits for an agent. Events of one place are handed in one
// after another.
func (h *Host) hear(ctx context.Context, ev chat.Event) chat.Outcome {
	if h.approvals.Foul(ev) {
		return h.turnAway(ctx, ev, byProgram)
	}
	if v := h.gate.Early(ev); v.Decided {
		if v.Stranger && h.cfg.Access.Pairing {
			h.offer(ctx, ev)
		}
		return h.turnAway(ctx, ev, v)
	}
	if ev.Concerns() != "" {
		return h.amend(ctx, ev)
	}
	fresh, err := h.accept(ctx, ev, append(h.remembering(ev), h.threading(ctx, ev)...))
	if err != nil {
		return chat.Busy
	}
	if !fresh {
		return chat.Repeat
	}
	h.countHeard(ev)
	if v := h.gate.Judge(ev); v.Decided {
		h.close(ctx, ev)
		return h.turnAway(ctx, ev, v)
	}
	ev, there := h.overtaken(ctx, ev)
	if !there || h.answers(ctx, ev) || h.commands.Take(ctx, ev, h.gate.Trust(ev)) || h.rooms.Steer(ctx, ev, h.gate.Trust(ev)) {
		return chat.Accepted
	}
	return h.post(ctx, ev)
}

// post puts an accepted event in line, and tells the person their place in it when it is not the next.
func (h *Host) post(ctx context.Context, ev chat.Event) chat.Outcome {
	outcome, ahead := h.rooms.Post(ev, h.gate.Trust(ev))
	if outcome == chat.Busy {
		return h.full(ctx, ev, ahead)
	}
	if ahead > 1 {
		h.tellPlaceInLine(ctx, ev, ahead)
	}
	return outcome
}

// turnAway says why an event was not heard, without a word of what it said. What was never for us is
// most of the talk of a busy place, and fills no log.
func (h *Host) turnAway(ctx context.Context, ev chat.Event, v gate.Verdict) chat.Outcome {
	level := slog.LevelInfo
	if v.Outcome == chat.Ignored {
		level = slog.LevelDebug
	}
	h.log.Log(ctx, level, "not heard", chat.KeyEvent, ev.ID, chat.KeyPlatform, ev.Place.Platform,
		chat.KeyPerson, ev.From.ID, chat.KeyRule, v.Rule, "why", v.Why)
	h.audit.Refused(ev, v.Rule)
	if v.Rule == gate.RateRule {
		h.count.RateLimited(ev.Place.Platform)
	}
	return v.Outcome
}

// close finishes events in the inbox, and reports whether it could. Should the disk refuse, the next start settles
// them again.
func (h *Host) close(ctx context.Context, evs ...chat.Event) bool {
	if err := h.inbox.Finish(context.WithoutCancel(ctx), evs...); err != nil {
		h.log.Error("an event could not be finished", chat.KeyErr, err)
		return false
	}
	return true
}

// remembering is what keeps a message in history, in the transaction that accepts it.
func (h *Host) remembering(ev chat.Event) []func(*sql.Tx) error {
	m, ok := ev.AsMessage()
	if !ok {
		return nil
	}
	return []func(*sql.Tx) error{h.history.Noting(ev.Place, m)}
}
