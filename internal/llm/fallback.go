package llm

import (
	"context"
	"errors"
	"fmt"
)

// Fallback returns a model that asks primary, and second when primary has handed nothing on and is overloaded, silent,
// not reached or out of credit. Its names are those of primary. When both fail, the Problem is that of primary.
func Fallback(primary, second Model) Model { return fallback{primary, second} }

type fallback struct {
	Model
	second Model
}

// Ask is Model's.
func (f fallback) Ask(ctx context.Context, q Question, saw func(Piece)) (Answer, error) {
	seen := false
	watched := func(p Piece) {
		seen = true
		if saw != nil {
			saw(p)
		}
	}
	answer, err := f.Model.Ask(ctx, q, watched)
	var problem Problem
	if err == nil || seen || ctx.Err() != nil || !errors.As(err, &problem) || !problem.elsewhere() {
		return answer, err
	}
	answer, secondErr := f.second.Ask(ctx, q, watched)
	if secondErr == nil || seen || ctx.Err() != nil {
		return answer, secondErr
	}
	problem.Err = errors.Join(problem.Err, fmt.Errorf("fallback to %s: %w", f.second.Provider(), secondErr))
	return Answer{}, problem
}

// elsewhere reports whether another provider may answer what this one did not.
func (p Problem) elsewhere() bool {
	switch p.Kind {
	case Overloaded, Unreached, Silent, NoCredit:
		return true
	case BadKey, NoModel, Overfull, Declined, Broken, BadImage, Rejected:
	}
	return false
}
