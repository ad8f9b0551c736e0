package host

import (
	"cmp"
	"context"
	"errors"
	"time"

	"familiar/internal/chat"
	"familiar/internal/desk"
	"familiar/internal/llm"
	"familiar/internal/outbox"
	"familiar/internal/phrase"
)

// errNotHeard ends a turn before it begins: its author was heard when the event came, and is not any more. Nothing is
// said about it, as to anybody who is not heard.
var errNotHeard = errors.New("the author is not heard any more")

// beginSession is begin for the turns that rooms run: only they are sessions, a command is none.
func (h *Host) beginSession(ctx context.Context, t chat.Turn) error {
	h.count.SessionBegan()
	if err := h.begin(ctx, t); err != nil {
		return err
	}
	h.typist.begin(ctx, t)
	return nil
}

// begin runs before the desk attends to a turn: from here on a crash must not run its cause again.
func (h *Host) begin(ctx context.Context, t chat.Turn) error {
	if ev, ok := t.Trigger(); ok && h.gate.Early(ev).Decided {
		return errNotHeard
	}
	if err := h.inbox.Begin(ctx, t); err != nil {
		return err
	}
	for _, ev := range t.Cause {
		h.started(ctx, t, ev)
	}
	return nil
}

// started shows that a turn is about a message.
func (h *Host) started(ctx context.Context, t chat.Turn, ev chat.Event) {
	t.Cause = []chat.Event{ev}
	h.show(ctx, t, chat.Progress{Stage: chat.TurnStarted})
}

// handing runs before something is handed to a running turn: from here on a crash treats it like what the turn began
// with.
func (h *Host) handing(ctx context.Context, t chat.Turn, ev chat.Event) error {
	if err := h.meets(ctx, t, ev); err != nil {
		return err
	}
	t.Cause = []chat.Event{ev}
	return h.inbox.Begin(ctx, t)
}

// handed runs when the turn took it.
func (h *Host) handed(ctx context.Context, t chat.Turn, ev chat.Event) {
	h.started(ctx, t, ev)
	h.log.Info("handed to the running turn", chat.KeyEvent, ev.ID, chat.KeyTurn, t.ID)
}

// returned runs when it did not: the event waits in line.
func (h *Host) returned(ctx context.Context, ev chat.Event) {
	if err := h.inbox.Return(ctx, ev); err != nil {
		h.log.Error("an event that waits counts as begun", chat.KeyEvent, ev.ID, chat.KeyErr, err)
	}
}

// ended is the last of a turn, however it ended: the person gets a word if they got nothing else, the event is
// finished, and one line says what it came to.
func (h *Host) ended(ctx context.Context, t chat.Turn, waited time.Duration, res desk.Result, err error) {
	h.typist.end(t)
	stage := chat.TurnCompleted
	switch {
	case errors.Is(err, chat.ErrStopped), errors.Is(err, errNotHeard), errors.Is(err, chat.ErrRecalled):
		stage = chat.TurnCancelled
	case err != nil:
		stage = chat.TurnFailed
	}
	h.logTurn(t, waited, res, err)
	h.countSession(t, waited, err)
	h.settle(ctx, t, stage, err)
	h.wakened(t, res.Replied && !h.outbox.Doubtful(t), err)
	h.outbox.Forget(t)
	h.reminding.Forget(t)
}

// How long settle waits before it tries again, at first and at most.
const (
	settleFirst = time.Second
	settleMost  = 15 * time.Second
)

// settle tells the outcome and finishes the event. A full disk takes neither, so both are tried until they are
// taken, or the bot leaves and the next start settles the event. Words that went out already are known by their key.
func (h *Host) settle(ctx context.Context, t chat.Turn, stage chat.Stage, err error) {
	last := chat.Progress{Stage: stage}
	if stage == chat.TurnFailed {
		last.Reason, last.Next = h.reason(t, err)
	}
	shown := false
	for wait := settleFirst; ; wait = min(2*wait, settleMost) {
		var told error
		switch {
		case stage == chat.TurnFailed:
			told = h.apologise(ctx, t, err)
		case stage == chat.TurnCompleted && h.outbox.Doubtful(t):
			told = h.excuse(ctx, t, h.phrases.Say(phrase.LostReply))
		}
		if !errors.Is(told, outbox.ErrUnwritten) { // whoever follows a turn goes when it is over
			shown = shown || h.shown(ctx, t, last)
			if h.finish(ctx, t, err) {
				return
			}
		}
		select {
		case <-time.After(wait):
		case <-h.leaving:
			return
		}
	}
}

// finish finishes what a turn was about, and reports whether it could.
func (h *Host) finish(ctx context.Context, t chat.Turn, err error) bool {
	if ev, ok := t.Trigger(); ok && errors.Is(err, chat.ErrShutdown) && h.reawake(ctx, ev) {
		return true
	}
	return h.close(ctx, t.Cause...)
}

// apologise tells the person that nothing will come: the words of the error where it has some, else one neutral
// sentence.
func (h *Host) apologise(ctx context.Context, t chat.Turn, err error) error {
	var told chat.UserError
	switch {
	case errors.As(err, &told):
		return h.excuse(ctx, t, told.Say)
	case errors.Is(err, chat.ErrShutdown):
		return h.excuse(ctx, t, h.phrases.Say(phrase.CutOff))
	}
	return h.excuse(ctx, t, h.phrases.Say(phrase.Sorry))
}

// excuse tells whoever waits for a turn how it ended. Where nobody asked nobody waits.
func (h *Host) excuse(ctx context.Context, t chat.Turn, text string) error {
	ev, ok := t.Trigger()
	if !ok || t.Kind == chat.Wake {
		return nil
	}
	return h.notify(ctx, ev, outcome, text)
}

// logTurn writes the one wide line of a turn.
func (h *Host) logTurn(t chat.Turn, waited time.Duration, res desk.Result, err error) {
	line := []any{chat.KeyTurn, t.ID, "kind", string(t.Kind), chat.KeyPlatform, t.Place.Platform, chat.KeyPlace, string(t.Place.Kind),
		chat.KeyPerson, t.From.ID, "causes", len(t.Cause), "waited", waited, chat.KeyTook, h.now().Sub(t.Began),
		chat.KeySession, res.Session, "agent", res.Agent, "model", cmp.Or(res.Model, h.mind().Model), "stop", string(res.Stop),
		"tools", res.Tools, "tokens", res.Usage.Total, "retried", res.Retried, "replied", res.Replied,
		"standing", t.Standing.Now().String()}
	switch {
	case err == nil:
		h.log.Info("turn", line...)
	case errors.Is(err, chat.ErrStopped), errors.Is(err, errNotHeard), errors.Is(err, chat.ErrRecalled), errors.Is(err, chat.ErrShutdown):
		h.log.Info("turn ended early", append(line, chat.KeyErr, err)...)
	default:
		line = append(line, chat.KeyErr, err)
		var problem llm.Problem
		if errors.As(err, &problem) && problem.Err != nil { // what the provider said is for the operator alone
			line = append(line, "cause", problem.Err)
		}
		h.log.Error("turn failed", line...)
	}
}
