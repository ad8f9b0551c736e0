package approval

import (
	"context"
	"database/sql"
	"errors"

	"familiar/internal/chat"
)

// Recover settles what the last process left, before anything is heard: turns that waited are gone, and so are their
// questions; what ran out of time has ended; a question that was never shown is shown; and what is shown says how it
// ended.
func (a *Approvals) Recover(ctx context.Context) error {
	left, err := find(ctx, a.deps.DB.Read(), `state = 'open'`)
	if err != nil {
		return err
	}
	var errs []error
	for _, q := range left {
		switch {
		case q.Kind == Wait:
			q, err = a.end(ctx, q.ID, Withdrawn)
		case !a.deps.Now().Before(q.Deadline):
			q, err = a.end(ctx, q.ID, Expired)
		case q.Shown.IsZero():
			q, err = a.show(ctx, q)
		}
		errs = append(errs, err)
	}
	stale, err := find(ctx, a.deps.DB.Read(), `state <> 'open' AND message <> '' AND NOT coalesce(json_extract(question, '$.closed'), 0)`)
	errs = append(errs, err)
	for _, q := range stale {
		a.close(ctx, q)
	}
	return errors.Join(errs...)
}

// Finish keeps what a deed came to, so that a crash behind it does not hide it.
func (a *Approvals) Finish(ctx context.Context, q Question, result string) error {
	_, err := a.change(ctx, q.ID, func(_ *sql.Tx, q *Question) error {
		q.Result = result
		return nil
	})
	return err
}

// By returns the question that an event answered; ok is false when it answered none.
func (a *Approvals) By(ctx context.Context, id chat.EventID) (q Question, ok bool, err error) {
	return one(ctx, a.deps.DB.Read(), `event = ?`, id)
}

// Find returns a question.
func (a *Approvals) Find(ctx context.Context, id string) (q Question, ok bool, err error) {
	return one(ctx, a.deps.DB.Read(), `id = ?`, id)
}

// Open returns the questions that somebody may answer, wherever they were asked; trust is theirs.
func (a *Approvals) Open(ctx context.Context, who chat.Person, trust chat.Trust) ([]Question, error) {
	all, err := find(ctx, a.deps.DB.Read(), `state = 'open'`)
	if err != nil {
		return nil, err
	}
	var open []Question
	for _, q := range all {
		if q.mayAnswer(who, trust) && a.deps.Now().Before(q.Deadline) {
			open = append(open, q)
		}
	}
	return open, nil
}
