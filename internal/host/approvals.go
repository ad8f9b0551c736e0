package host

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"familiar/internal/agent"
	"familiar/internal/approval"
	"familiar/internal/chat"
	"familiar/internal/command"
	"familiar/internal/gate"
	"familiar/internal/permission"
	"familiar/internal/phrase"
	"familiar/internal/tool"
)

// byProgram turns away a program that would answer in its owner's name.
var byProgram = gate.Verdict{Decided: true, Outcome: chat.Refused, Rule: "approval", Why: "answers come from a person, on the page"}

// deedTime is how long something may take that a person said yes to.
const deedTime = 2 * time.Minute

// openApprovals opens the questions that wait for people.
func (h *Host) openApprovals(ctx context.Context) (err error) {
	h.deeds = approval.NewDeeds(context.WithoutCancel(ctx))
	h.approvals, err = approval.New(ctx, approval.Deps{DB: h.db, Phrases: h.phrases, Vault: h.Vault, Zone: h.cfg.Bot.Zone(),
		Now: h.now, Log: h.log.With("module", "Approval"), Trust: h.trust, Leaving: h.leaving, Do: h.outbox.Do, Before: h.history.Before})
	return err
}

func (h *Host) trust(ev chat.Event) chat.Trust { return h.gate.Trust(ev) }

// answers takes an event that answers a question, or tells what came of an answer; false leaves it to the others.
func (h *Host) answers(ctx context.Context, ev chat.Event) bool {
	if settled, ok := ev.Body.(chat.Settled); ok && ev.ID == settledID(ev.Place, settled.Work) {
		h.conclude(ctx, settled.Text, ev)
		return true
	}
	taken, err := h.approvals.Take(ctx, ev, h.gate.Trust(ev))
	if err != nil {
		h.log.Error("an answer could not be taken", chat.KeyEvent, ev.ID, chat.KeyErr, err)
		h.tell(ctx, ev, outcome, h.phrases.Say(phrase.Sorry))
		h.close(ctx, ev)
		return true
	}
	if !taken.Is {
		return false
	}
	if taken.Say != "" {
		h.tell(ctx, ev, outcome, taken.Say)
	}
	if q := taken.Do; q != nil {
		h.deeds.Do(func(ctx context.Context) { h.deed(ctx, ev, *q) })
		return true
	}
	h.close(ctx, ev)
	return true
}

// deed runs what a person said yes to, once, in a turn of its own, and lets its result be heard.
func (h *Host) deed(ctx context.Context, ev chat.Event, q approval.Question) {
	t := chat.NewTurn(chat.Approved, ev, q.Standing, h.now())
	t.Place, t.From = q.Place, q.From
	if err := h.inbox.Begin(ctx, t); err != nil {
		h.log.Error("a deed that was approved was not begun", chat.KeyTurn, t.ID, chat.KeyErr, err)
		return // it has not begun, so the next start takes the answer up again
	}
	h.audit.Open(t.ID, tool.NewSession(h.now()), t.From)
	defer h.audit.Close(t.ID)
	limited, cancel := context.WithTimeoutCause(ctx, deedTime, chat.ErrTooLong)
	defer cancel()
	res, err := h.box.Approved(limited, t, q.Trust, q.Schema, tool.Call{Tool: q.Tool, Args: q.Args})
	line := []any{chat.KeyTurn, t.ID, "kind", string(t.Kind), chat.KeyTool, q.Tool, "question", q.ID,
		chat.KeyPerson, q.By.ID, chat.KeyTook, h.now().Sub(t.Began)}
	if err != nil {
		h.log.Warn("a deed that was approved failed", append(line, chat.KeyErr, err)...)
	} else {
		h.log.Info("a deed that was approved", line...)
	}
	h.outbox.Forget(t)
	ctx = context.WithoutCancel(ctx)
	h.settled(ctx, ev, q, h.result(q, res, err))
}

// result is what a person reads of a deed.
func (h *Host) result(q approval.Question, res tool.Result, err error) string {
	var fault tool.Fault
	switch {
	case err == nil:
		return h.phrases.Say(phrase.ApprovalResult, q.Tool, approval.Shorten(string(res.Data)))
	case errors.As(err, &fault):
		return h.phrases.Say(phrase.ApprovalFailed, q.Tool, approval.Shorten(fault.Say))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, chat.ErrShutdown):
		return h.phrases.Say(phrase.ApprovalCutOff, q.Tool)
	}
	return h.phrases.Say(phrase.ApprovalFailed, q.Tool, h.phrases.Say(phrase.Sorry))
}

// settled lets the result of a deed be heard, and then finishes the answer that it came of.
func (h *Host) settled(ctx context.Context, ev chat.Event, q approval.Question, text string) {
	if err := h.approvals.Finish(ctx, q, text); err != nil {
		h.log.Error("the result of a deed was not kept", "question", q.ID, chat.KeyErr, err)
	}
	heard := h.hear(ctx, chat.Event{ID: settledID(q.Place, q.ID), At: h.now(),
		Place: q.Place, From: q.From, Message: q.Message, Addressed: true, Body: chat.Settled{Work: q.ID, Text: text}})
	if heard == chat.Accepted || heard == chat.Repeat {
		h.close(ctx, ev)
	}
}

// settledID names the event that a deed has ended; that of other work has another name.
func settledID(at chat.Place, question string) chat.EventID {
	return chat.NewEventID("approval", at, chat.KindSettled, question, "")
}

// reported tells of a deed that a crash cut off, or what it came to, and never runs it again. It reports false for an
// event that was no answer.
func (h *Host) reported(ctx context.Context, ev chat.Event) bool {
	q, ok, err := h.approvals.By(ctx, ev.ID)
	if err != nil || !ok {
		return false
	}
	text := q.Result
	if text == "" {
		text = h.phrases.Say(phrase.ApprovalCutOff, q.Tool)
	}
	h.settled(ctx, ev, q, text)
	return true
}

// mayAsk asks the owner about a tool of somebody else's server, whose effect is not known. What only reads, as its
// server says, runs for the owner; nobody else is asked, and for them the policy's no stands.
func (h *Host) mayAsk(ctx context.Context, t chat.Turn, ask agent.Ask) (permission.Verdict, bool) {
	ev, ok := t.Trigger()
	if !ok || h.gate.Trust(ev) != chat.Owner {
		return permission.Verdict{}, false
	}
	if ask.ReadOnly {
		return permission.Verdict{Allow: true, Reason: readOnly}, true
	}
	w := approval.Wanted{Tool: ask.Of + ": " + ask.Tool, Args: json.RawMessage(ask.RawInput), Ask: tool.Once}
	if ask.Destroys {
		w.Ask = tool.Always
	}
	defer h.typist.pause(t)()
	came := h.approvals.Permit(ctx, t, w)
	return permission.Verdict{Allow: came == approval.Allowed || came == approval.Spared, Reason: string(came)}, true
}

// readOnly is the audit's reason for what the operator's server says only reads.
const readOnly = "read_only_tool"

// approvalCommands answer questions, and list them. An answer that names a question never comes here: it was taken
// before.
func (h *Host) approvalCommands() []command.Command {
	say, id := h.phrases.Say, h.phrases.Say(phrase.ArgID)
	answer := func(name string) func(context.Context, chat.Turn, string) (string, error) {
		return func(_ context.Context, _ chat.Turn, rest string) (string, error) {
			if rest == "" {
				return say(phrase.ApprovalUsage, name), nil
			}
			return say(phrase.ApprovalUnknown, rest), nil
		}
	}
	return []command.Command{
		{Name: "/yes", Needs: chat.Public, Args: id, Help: say(phrase.HelpYes), Run: answer("/yes")},
		{Name: "/no", Needs: chat.Public, Args: id, Help: say(phrase.HelpNo), Run: answer("/no")},
		{Name: "/approvals", Needs: chat.Public, Help: say(phrase.HelpApprovals), Run: h.listApprovals},
	}
}

// listApprovals shows what waits for somebody and what they are not asked again today, or takes one of the latter back.
func (h *Host) listApprovals(ctx context.Context, t chat.Turn, rest string) (string, error) {
	if word, name, _ := strings.Cut(rest, " "); word == "remove" {
		removed, err := h.approvals.Remove(ctx, t.From, strings.TrimSpace(name))
		if err == nil && !removed {
			return h.phrases.Say(phrase.ApprovalNotRemoved, strings.TrimSpace(name)), nil
		}
		return h.phrases.Say(phrase.ApprovalRemoved, strings.TrimSpace(name)), err
	}
	open, err := h.approvals.Open(ctx, t.From, t.Standing.Now())
	if err != nil {
		return "", err
	}
	days, err := h.approvals.Days(ctx, t.From)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, q := range open {
		until := q.Deadline.In(h.cfg.Bot.Zone()).Format("15:04")
		lines = append(lines, "- "+h.phrases.Say(phrase.ApprovalLine, q.ID, q.Tool, until))
	}
	for _, name := range days {
		lines = append(lines, "- "+h.phrases.Say(phrase.ApprovalDay, name, "/approvals remove "+name))
	}
	if len(lines) == 0 {
		return h.phrases.Say(phrase.ApprovalNone), nil
	}
	return strings.Join(lines, "\n"), nil
}
