package approval

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

// askedWords tell the model that a person is being asked.
//
//go:embed asked.md
var askedWords string

// Asks puts a call of a tool of ours before the person who caused the turn; it is a tool.Asker. A person who could not
// use the tool themselves is not asked.
func (a *Approvals) Asks(ctx context.Context, t chat.Turn, of tool.Tool, args json.RawMessage) (tool.Asked, bool, error) {
	ev, _ := t.Trigger()
	switch {
	case a.deps.Trust(ev) < of.Needs:
		return tool.Asked{}, false, tool.Fault{Status: 403, Say: of.Name + " needs more trust than this person has"}
	case len(args) > mostArgs:
		return tool.Asked{}, false, tool.Bad("%s: the parameters are too long to be asked about", of.Name)
	case of.Ask == tool.Once && t.Standing.Now() > chat.Foreign && t.Standing.Now() >= of.Needs:
		if spared, err := a.spared(ctx, t.From, of.Name); err != nil || spared {
			return tool.Asked{}, spared, err
		}
	}
	q := a.question(Deed, t, of.Name, args)
	q.Ask, q.Schema = of.Ask, of.Schema()
	q, fresh, err := a.add(ctx, q)
	if err == nil && fresh {
		if q, err = a.show(ctx, q); err != nil {
			_, ended := a.end(ctx, q.ID, Withdrawn)
			err = errors.Join(err, ended)
		}
	}
	if errors.Is(err, errTooMany) {
		return tool.Asked{}, false, tool.Fault{Status: 429, Say: "the person has not answered your earlier questions yet. Stop here"}
	}
	return tool.Asked{ID: q.ID, Say: strings.TrimSpace(askedWords)}, false, err
}

// Wanted is what an agent wants to do while its turn waits.
type Wanted struct {
	Tool string // as the person reads it, and as «not again today» remembers it
	Args json.RawMessage
	Ask  tool.Approval
}

// Outcome is what came of a question that a turn waited for.
type Outcome string

// The outcomes. What nobody said no to is no no.
const (
	Allowed       Outcome = "asked_allowed"
	Spared        Outcome = "asked_allowed_today" // the person said earlier that they need not be asked
	Denied        Outcome = "asked_denied"
	TimedOut      Outcome = "asked_timed_out"
	Undeliverable Outcome = "asked_undeliverable"
	Ended         Outcome = "asked_turn_ended"
)

// Permit asks the person who caused the turn, and waits until they have answered, ctx, which is the turn's, ends, or the
// time for it is over.
func (a *Approvals) Permit(ctx context.Context, t chat.Turn, w Wanted) Outcome {
	q := a.question(Wait, t, w.Tool, w.Args)
	q.Ask = w.Ask
	if q.Ask == tool.Once && q.Standing > chat.Foreign {
		spared, err := a.spared(ctx, t.From, w.Tool)
		if spared {
			return Spared
		}
		a.warn(q, "look for a standing answer", err)
	}
	if len(w.Args) > mostArgs {
		return Undeliverable
	}
	answered := make(chan Option, 1)
	a.wait(q.ID, answered)
	defer a.wait(q.ID, nil)
	_, _, err := a.add(ctx, q)
	if err == nil {
		_, err = a.show(ctx, q)
	}
	if err != nil {
		a.warn(q, "ask it", err)
		_, err = a.end(ctx, q.ID, Withdrawn)
		a.warn(q, "withdraw it", err)
		return Undeliverable
	}
	late := time.NewTimer(a.patience)
	defer late.Stop()
	select {
	case option := <-answered:
		return outcome(option)
	case <-late.C:
		return a.over(ctx, q, Expired, TimedOut)
	case <-a.deps.Leaving:
		return a.over(ctx, q, Withdrawn, Ended)
	case <-ctx.Done():
		return a.over(ctx, q, Withdrawn, Ended)
	}
}

func outcome(option Option) Outcome {
	if option == Yes || option == Today {
		return Allowed
	}
	return Denied
}

// over closes a question that a turn no longer waits for. An answer that was there first counts, while its turn lives.
func (a *Approvals) over(ctx context.Context, q Question, as State, came Outcome) Outcome {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	ended, err := a.end(ctx, q.ID, as)
	a.warn(q, "end it", err)
	if err == nil && ended.State == Answered && came == TimedOut {
		return outcome(ended.Option)
	}
	if ended.State == as {
		a.close(ctx, ended)
	}
	return came
}

// wait keeps, or with nil forgets, who waits for the answer to a question.
func (a *Approvals) wait(id string, answered chan Option) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answered == nil {
		delete(a.waits, id)
		return
	}
	a.waits[id] = answered
}

// wake hands an answer to the turn that waits for it.
func (a *Approvals) wake(q Question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answered := a.waits[q.ID]; answered != nil {
		answered <- q.Option // it has room, and only the first answer comes here
	}
}
