package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"familiar/internal/agent"
)

// stage is where a script is played.
type stage interface {
	update(agent.Update)
	// call returns the tool's answer.
	call(ctx context.Context, name string, args json.RawMessage) (string, error)
	ask(ctx context.Context, ask agent.Ask) agent.Answer
	// own does a step that only this stage knows.
	own(ctx context.Context, step Step) error
}

// play does the steps, until one ends the turn or ctx ends; the error is then context.Cause(ctx).
func play(ctx context.Context, steps []Step, found string, on stage) (agent.Result, error) {
	result := agent.Result{Stop: agent.EndTurn}
	known := blanks{found: found}
	for i, step := range steps {
		if ctx.Err() != nil {
			return result, context.Cause(ctx)
		}
		switch {
		case step.End != "":
			result.Stop = step.End
			return result, nil
		case step.Fail != "":
			return result, errors.New(step.Fail)
		case step.Panic != "":
			panic(step.Panic)
		case step.Usage != nil:
			result.Usage = *step.Usage
			on.update(result.Usage)
		default:
			if err := known.act(ctx, step, i, on); err != nil {
				return result, err
			}
		}
	}
	return result, context.Cause(ctx)
}

func (b *blanks) act(ctx context.Context, step Step, n int, on stage) error {
	switch {
	case step.Say != "":
		for range max(step.Times, 1) {
			on.update(agent.Message{Text: step.Say})
		}
	case step.Think != "":
		for range max(step.Times, 1) {
			on.update(agent.Thought{Text: step.Think})
		}
	case step.Plan != nil:
		on.update(agent.Plan{Steps: step.Plan})
	case step.Call != "":
		c := agent.ToolCall{ID: fmt.Sprintf("call_%d", n), Title: step.Call, Kind: agent.KindOther, Status: agent.StatusRunning}
		on.update(c)
		answer, err := on.call(ctx, step.Call, b.fill(step.Args))
		b.answered(answer)
		c.Status = ended(err == nil)
		on.update(c)
	case step.Ask != nil:
		answer := on.ask(ctx, *step.Ask)
		on.update(agent.ToolCall{ID: step.Ask.Call, Title: step.Ask.Title, Kind: step.Ask.Kind,
			Status: ended(allowed(*step.Ask, answer))})
	case step.Pause > 0:
		select {
		case <-time.After(time.Duration(step.Pause) * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	case step.Wait:
		<-ctx.Done()
		return context.Cause(ctx)
	case step.Until != nil:
		select {
		case <-step.Until:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	default:
		return on.own(ctx, step)
	}
	return nil
}

func ended(well bool) agent.ToolStatus {
	if well {
		return agent.StatusCompleted
	}
	return agent.StatusFailed
}

// allowed reports whether the answer chose an option that allows.
func allowed(ask agent.Ask, a agent.Answer) bool {
	for _, o := range ask.Options {
		if o.ID == a.Option {
			return o.Kind == agent.AllowOnce || o.Kind == agent.AllowAlways
		}
	}
	return false
}
