// Package inbox keeps the events that were accepted and are not finished yet. Accept is the durable commit that
// a source may acknowledge after; an event's id is its idempotency key, and a repeat ends here. The text of an
// event is dropped when it is finished; its id is remembered for 8 hours, across restarts.
package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"familiar/internal/chat"
	"familiar/internal/sqlite"
)

// Remembered is how long the id of a finished event is kept, so that a late redelivery is known.
const Remembered = 8 * time.Hour

// pruneEvery is how many accepted events lie between two clean-ups.
const pruneEvery = 256

// Inbox is the table of events. Safe for concurrent use; a call blocks for the disk only.
type Inbox struct {
	db       *sqlite.DB
	insert   *sql.Stmt
	now      func() time.Time
	accepted atomic.Int64
	early    atomic.Int64 // at least as many as the edits and recalls that wait for their message
}

// Open prepares the table; now is the clock, time.Now in a program.
func Open(ctx context.Context, db *sqlite.DB, now func() time.Time) (*Inbox, error) {
	err := db.Migrate(ctx, "inbox", `CREATE TABLE inbox (
		seq INTEGER PRIMARY KEY AUTOINCREMENT,
		id TEXT NOT NULL UNIQUE,
		state TEXT NOT NULL,
		turn TEXT NOT NULL DEFAULT '',
		event TEXT NOT NULL,
		at INTEGER NOT NULL);
		CREATE INDEX inbox_left ON inbox (seq) WHERE state <> 'done';
		CREATE INDEX inbox_old ON inbox (at) WHERE state = 'done'`,
		`CREATE TABLE inbox_early (
		seq INTEGER PRIMARY KEY AUTOINCREMENT,
		platform TEXT NOT NULL, place TEXT NOT NULL, message TEXT NOT NULL,
		event TEXT NOT NULL, at INTEGER NOT NULL);
		CREATE INDEX inbox_early_message ON inbox_early (platform, place, message)`)
	if err != nil {
		return nil, err
	}
	in := &Inbox{db: db, now: now}
	var early int64
	if err := db.Read().QueryRowContext(ctx, `SELECT count(*) FROM inbox_early`).Scan(&early); err != nil {
		return nil, fmt.Errorf("read the inbox: %w", err)
	}
	in.early.Store(early)
	in.insert, err = db.Prepare(ctx, `INSERT INTO inbox (id, state, event, at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`)
	return in, err
}

// state is how far an event came.
type state string

const (
	waiting state = "waiting"
	begun   state = "begun"
	done    state = "done"
)

// errRepeat ends the transaction of an event that we have.
var errRepeat = errors.New("repeat")

// Accept commits an event and whatever also does, together, and reports whether it is new. On an error nothing
// was stored and the event must not be acknowledged.
func (in *Inbox) Accept(ctx context.Context, ev chat.Event, also ...func(*sql.Tx) error) (fresh bool, err error) {
	text, err := json.Marshal(ev)
	if err != nil {
		return false, fmt.Errorf("accept event: %w", err)
	}
	err = in.db.Write(ctx, func(tx *sql.Tx) error {
		// Without the context: to break this off would break the transactions of others.
		res, err := tx.Stmt(in.insert).Exec(string(ev.ID), string(waiting), text, in.now().UnixMilli())
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, errRepeat)
		}
		for _, do := range also {
			if err := do(tx); err != nil {
				return err
			}
		}
		return in.prune(ctx, tx)
	})
	if errors.Is(err, errRepeat) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("accept event: %w", err)
	}
	return true, nil
}

// Has reports whether an event was accepted, as far as the inbox remembers.
func (in *Inbox) Has(ctx context.Context, ev chat.Event) (known bool, err error) {
	err = in.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM inbox WHERE id = ?)`, string(ev.ID)).Scan(&known)
	if err != nil {
		return false, fmt.Errorf("look for an event: %w", err)
	}
	return known, nil
}

// prune forgets old ids, now and then.
func (in *Inbox) prune(ctx context.Context, tx *sql.Tx) error {
	if in.accepted.Add(1)%pruneEvery != 1 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM inbox WHERE state = 'done' AND at < ?`, in.now().Add(-Remembered).UnixMilli())
	return err
}

// Begin notes that a turn took its causes up: from now on a crash must not run them again.
func (in *Inbox) Begin(ctx context.Context, t chat.Turn) error {
	return in.set(ctx, "begin turn", t.Cause, func(tx *sql.Tx, id chat.EventID) error {
		_, err := tx.ExecContext(ctx, `UPDATE inbox SET state = ?, turn = ? WHERE id = ? AND state <> 'done'`, begun, t.ID, id)
		return err
	})
}

// Return notes that a turn did not take an event up after all: after a crash it is taken again.
func (in *Inbox) Return(ctx context.Context, evs ...chat.Event) error {
	return in.set(ctx, "return event", evs, func(tx *sql.Tx, id chat.EventID) error {
		_, err := tx.ExecContext(ctx, `UPDATE inbox SET state = ?, turn = '' WHERE id = ? AND state = ?`, waiting, id, begun)
		return err
	})
}

// Finish closes events and drops their text.
func (in *Inbox) Finish(ctx context.Context, evs ...chat.Event) error {
	return in.set(ctx, "finish event", evs, func(tx *sql.Tx, id chat.EventID) error {
		_, err := tx.ExecContext(ctx, `UPDATE inbox SET state = ?, event = '', at = ? WHERE id = ?`, done, in.now().UnixMilli(), id)
		return err
	})
}

// Drop forgets an event that was accepted and cannot be taken after all, with whatever also undoes, so that its
// redelivery is new.
func (in *Inbox) Drop(ctx context.Context, ev chat.Event, also ...func(*sql.Tx) error) error {
	return in.set(ctx, "drop event", []chat.Event{ev}, func(tx *sql.Tx, id chat.EventID) error {
		for _, undo := range also {
			if err := undo(tx); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM inbox WHERE id = ?`, id)
		return err
	})
}

func (in *Inbox) set(ctx context.Context, verb string, evs []chat.Event, one func(*sql.Tx, chat.EventID) error) error {
	err := in.db.Write(ctx, func(tx *sql.Tx) error {
		for _, ev := range evs {
			if err := one(tx, ev.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// Entry is an event that was accepted and not finished. Turn is empty when none had taken it up.
type Entry struct {
	Event chat.Event
	Turn  chat.TurnID
}

// Begun reports whether a turn had taken the event up.
func (e Entry) Begun() bool { return e.Turn != "" }

// Waiting counts the events that are not finished. It blocks for the disk only.
func (in *Inbox) Waiting(ctx context.Context) (int64, error) { return WaitingIn(ctx, in.db.Read()) }

// WaitingIn counts them in the database of a bot that may be running or not.
func WaitingIn(ctx context.Context, db *sql.DB) (n int64, err error) {
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM inbox WHERE state <> 'done'`).Scan(&n); err != nil {
		return 0, fmt.Errorf("count waiting events: %w", err)
	}
	return n, nil
}

// Waits reports whether an event is here and not finished.
func (in *Inbox) Waits(ctx context.Context, id chat.EventID) (is bool, err error) {
	if err := in.db.Read().QueryRowContext(ctx, `SELECT count(*) > 0 FROM inbox WHERE id = ? AND state <> 'done'`, id).Scan(&is); err != nil {
		return false, fmt.Errorf("look for an event: %w", err)
	}
	return is, nil
}

// Left returns what was not finished, in the order of arrival. An entry that cannot be read any more is
// finished and named in the error; the others are returned all the same.
func (in *Inbox) Left(ctx context.Context) ([]Entry, error) {
	rows, err := in.db.Read().QueryContext(ctx, `SELECT id, turn, event FROM inbox WHERE state <> 'done' ORDER BY seq`)
	if err != nil {
		return nil, fmt.Errorf("read the inbox: %w", err)
	}
	defer rows.Close() //nolint:errcheck // what matters is rows.Err
	var left []Entry
	var broken []error
	for rows.Next() {
		var id chat.EventID
		var e Entry
		var text []byte
		if err := rows.Scan(&id, &e.Turn, &text); err != nil {
			return nil, fmt.Errorf("read the inbox: %w", err)
		}
		if err := json.Unmarshal(text, &e.Event); err != nil {
			broken = append(broken, fmt.Errorf("read event %s: %w", id, err), in.Finish(ctx, chat.Event{ID: id}))
			continue
		}
		left = append(left, e)
	}
	return left, errors.Join(append(broken, rows.Err())...)
}
