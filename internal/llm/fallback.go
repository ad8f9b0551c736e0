package llm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// awayTime is how long the second model is asked at once after the first one failed: finding out again that a provider
// is silent costs a person minutes.
const awayTime = time.Minute

// Fallback returns a model that asks primary, and second when primary has handed nothing on and is overloaded, silent,
// not reached or out of credit. For a minute after that it asks second at once, and primary only when second fails.
// Its names are those of primary. When both fail, the Problem is that of primary. Each switch to second is a warning
// in log, and each return a note.
func Fallback(primary, second Model, log *slog.Logger) Model {
	return &fallback{Model: primary, second: second, log: log}
}

type fallback struct {
	Model
	second Model
	log    *slog.Logger

	mu   sync.Mutex
	away time.Time // until when second is asked at once; zero once primary has answered
}

// Ask is Model's.
func (f *fallback) Ask(ctx context.Context, q Question, saw func(Piece)) (Answer, error) {
	seen := false
	watched := func(p Piece) {
		seen = true
		if saw != nil {
			saw(p)
		}
	}
	var secondErr error
	if f.isAway() {
		var answer Answer
		if answer, secondErr = f.second.Ask(ctx, q, watched); secondErr == nil || seen || ctx.Err() != nil {
			return answer, secondErr
		}
	}
	answer, err := f.Model.Ask(ctx, q, watched)
	if err == nil {
		f.back()
	}
	var problem Problem
	if err == nil || seen || ctx.Err() != nil || !errors.As(err, &problem) || !problem.elsewhere() {
		return answer, err
	}
	f.leave(problem)
	if secondErr == nil {
		if answer, secondErr = f.second.Ask(ctx, q, watched); secondErr == nil || seen || ctx.Err() != nil {
			return answer, secondErr
		}
	}
	problem.Err = errors.Join(problem.Err, fmt.Errorf("fallback to %s: %w", f.second.Provider(), secondErr))
	return Answer{}, problem
}

func (f *fallback) isAway() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Before(f.away)
}

// leave remembers that primary failed. Questions that fail at the same time are one switch.
func (f *fallback) leave(why Problem) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if !now.Before(f.away) {
		f.log.Warn("the fallback model is asked for a minute", "provider", f.Provider(), "fallback", f.second.Provider(),
			"problem", string(why.Kind), "err", why.Err)
	}
	f.away = now.Add(awayTime)
}

// back remembers that primary has answered.
func (f *fallback) back() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.away.IsZero() {
		f.log.Info("the fallback model is no longer needed", "provider", f.Provider(), "fallback", f.second.Provider())
	}
	f.away = time.Time{}
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
