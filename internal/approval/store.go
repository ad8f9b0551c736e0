package approval

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"familiar/internal/chat"
)

// schema holds the questions, the buttons under which they were shown, and who need not be asked again on a day. Times
// are milliseconds since 1970.
const schema = `
CREATE TABLE approvals (id TEXT PRIMARY KEY, state TEXT NOT NULL, platform TEXT NOT NULL, place TEXT NOT NULL,
	message TEXT NOT NULL, event TEXT NOT NULL, at INTEGER NOT NULL, question TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX approvals_open ON approvals (platform, place) WHERE state = 'open';
CREATE INDEX approvals_event ON approvals (event) WHERE event <> '';
CREATE INDEX approvals_message ON approvals (message) WHERE message <> '';
CREATE INDEX approvals_at ON approvals (at);
CREATE TABLE approval_buttons (button TEXT PRIMARY KEY, question TEXT NOT NULL, revision INTEGER NOT NULL,
	option TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE approval_days (platform TEXT NOT NULL, person TEXT NOT NULL, tool TEXT NOT NULL, day TEXT NOT NULL,
	PRIMARY KEY (platform, person, tool)) WITHOUT ROWID;
`

// querier is what reads: the database, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// find returns the questions that a condition names, oldest first.
func find(ctx context.Context, from querier, where string, args ...any) (found []Question, err error) {
	rows, err := from.QueryContext(ctx, `SELECT question FROM approvals WHERE `+where+` ORDER BY at, id`, args...)
	if err != nil {
		return nil, fmt.Errorf("read questions: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text []byte
		var q Question
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("read a question: %w", err)
		}
		if err := json.Unmarshal(text, &q); err != nil {
			return nil, fmt.Errorf("read a question: %w", err)
		}
		found = append(found, q)
	}
	return found, rows.Err()
}

// one returns the question that a condition names; ok is false when there is none.
func one(ctx context.Context, from querier, where string, args ...any) (q Question, ok bool, err error) {
	found, err := find(ctx, from, where, args...)
	if err != nil || len(found) == 0 {
		return Question{}, false, err
	}
	return found[len(found)-1], true, nil
}

// save writes a question.
func save(ctx context.Context, tx *sql.Tx, q Question) error {
	text, err := json.Marshal(q)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		q.ID, q.State, q.Place.Platform, q.Place.ID, q.Message, q.Event, q.Asked.UnixMilli(), text)
	if err != nil {
		return fmt.Errorf("write a question: %w", err)
	}
	return nil
}

// change reads a question, lets do change it and writes it, in one transaction. do runs more than once where the
// transaction has to; what it refuses is not written.
func (a *Approvals) change(ctx context.Context, id string, do func(tx *sql.Tx, q *Question) error) (q Question, err error) {
	err = a.deps.DB.Write(context.WithoutCancel(ctx), func(tx *sql.Tx) error {
		var ok bool
		if q, ok, err = one(ctx, tx, `id = ?`, id); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("there is no question %q", id))
		}
		if err := do(tx, &q); err != nil {
			return err
		}
		return save(ctx, tx, q)
	})
	if err != nil {
		return q, fmt.Errorf("change a question: %w", err)
	}
	return q, nil
}

// errTooMany says that a person has as many questions open as they may have.
var errTooMany = errors.New("too many questions are open")

// add keeps a new question, and forgets old ones. The same question of the same turn is the one that is there.
func (a *Approvals) add(ctx context.Context, q Question) (had Question, fresh bool, err error) {
	err = a.deps.DB.Write(ctx, func(tx *sql.Tx) error {
		open, err := find(ctx, tx, `state = 'open' AND platform = ? AND place = ?`, q.Place.Platform, q.Place.ID)
		if err != nil {
			return err
		}
		mine := 0
		for _, o := range open {
			if o.Turn == q.Turn && o.Tool == q.Tool && string(o.Args) == string(q.Args) && o.Kind == Deed && q.Kind == Deed {
				had, fresh = o, false
				return nil
			}
			if o.From.Same(q.From) && a.deps.Now().Before(o.Deadline) {
				mine++
			}
		}
		if mine >= mostOpen {
			return errTooMany
		}
		had, fresh = q, true
		if err := forget(ctx, tx, a.deps.Now().Add(-kept).UnixMilli(), a.today()); err != nil {
			return err
		}
		return save(ctx, tx, q)
	})
	if err != nil {
		return q, false, fmt.Errorf("keep a question: %w", err)
	}
	return had, fresh, nil
}

// forget drops what is old.
func forget(ctx context.Context, tx *sql.Tx, before int64, day string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM approvals WHERE at < ? AND state <> 'open'`, before); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM approval_buttons WHERE question NOT IN (SELECT id FROM approvals)`); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM approval_days WHERE day < ?`, day)
	return err
}

// errClosed ends a transaction that has nothing to change: the question is closed.
var errClosed = errors.New("the question is closed")

// settle gives an open question its answer, together with what «not again today» keeps. won is false when somebody
// else, or the clock, was faster: then q says how it ended. The same answer again wins again, until it was run.
func (a *Approvals) settle(ctx context.Context, id string, option Option, ev chat.Event, trust chat.Trust) (q Question, won bool, err error) {
	q, err = a.change(ctx, id, func(tx *sql.Tx, q *Question) error {
		won = q.Event == ev.ID && q.Result == ""
		switch {
		case q.State != Unasked:
			return errClosed
		case !a.deps.Now().Before(q.Deadline):
			q.State = Expired
			return nil
		}
		won = true
		q.State, q.Option, q.By, q.Trust, q.Event = Answered, option, ev.From, trust, ev.ID
		if option != Today {
			return nil
		}
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO approval_days VALUES (?, ?, ?, ?)`,
			q.From.Platform, q.From.ID, q.Tool, a.today())
		return err
	})
	if errors.Is(err, errClosed) {
		err = nil
	}
	return q, won, err
}

// end closes a question without an answer, unless it has one.
func (a *Approvals) end(ctx context.Context, id string, as State) (Question, error) {
	q, err := a.change(ctx, id, func(_ *sql.Tx, q *Question) error {
		if q.State != Unasked {
			return errClosed
		}
		q.State = as
		return nil
	})
	if errors.Is(err, errClosed) {
		err = nil
	}
	return q, err
}
