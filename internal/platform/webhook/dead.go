package webhook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// DeadLetter is something that could not be delivered and is kept, 1000 of them for 30 days.
type DeadLetter struct {
	ID       string
	Chat     string
	At       time.Time // when it was said
	Attempts int
	Fault    string // why the last attempt failed: of the address, the host at the most
}

// Stand is how many letters wait, and how many are dead.
type Stand struct{ Queued, Dead int }

// ErrNoLetter says that there is no dead letter of that id.
var ErrNoLetter = errors.New("there is no such dead letter")

// StandOf counts in the database of an instance, which may be running or not; a database without the table has none.
func StandOf(ctx context.Context, db *sql.DB) (s Stand, err error) {
	var tables int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'webhook_out'`).Scan(&tables); err != nil || tables == 0 {
		return s, err
	}
	err = db.QueryRowContext(ctx, `SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'dead')
		FROM webhook_out WHERE state IN ('queued', 'dead')`).Scan(&s.Queued, &s.Dead)
	return s, err
}

// Stand counts what waits and what is dead.
func (w *Webhook) Stand(ctx context.Context) (Stand, error) { return StandOf(ctx, w.db.Read()) }

// Dead returns the dead letters, oldest first, at most limit.
func (w *Webhook) Dead(ctx context.Context, limit int) (all []DeadLetter, err error) {
	rows, err := w.db.Read().QueryContext(ctx, `SELECT id, place, at, tries, fault FROM webhook_out
		WHERE state = 'dead' ORDER BY seq LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("read the dead letters: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var l DeadLetter
		var at int64
		if err := rows.Scan(&l.ID, &l.Chat, &at, &l.Attempts, &l.Fault); err != nil {
			return nil, fmt.Errorf("read the dead letters: %w", err)
		}
		l.At = time.UnixMilli(at).UTC()
		all = append(all, l)
	}
	return all, rows.Err()
}

// Retry puts a dead letter back into the queue of its chat, with all its attempts before it; ErrNoLetter when there is
// none of that id.
func (w *Webhook) Retry(ctx context.Context, id string) error {
	n, err := w.revive(ctx, `id = ?`, id)
	if err == nil && n == 0 {
		return ErrNoLetter
	}
	return err
}

// RetryAll puts every dead letter back, and says how many there were.
func (w *Webhook) RetryAll(ctx context.Context) (int, error) { return w.revive(ctx, `1`) }

func (w *Webhook) revive(ctx context.Context, which string, args ...any) (int, error) {
	var found int64
	err := w.db.Write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE webhook_out SET state = 'queued', tries = 0, due = ? WHERE state = 'dead' AND `+which,
			append([]any{time.Now().UnixMilli()}, args...)...)
		if err != nil {
			return err
		}
		found, err = res.RowsAffected()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("retry dead letters: %w", err)
	}
	w.wake()
	return int(found), nil
}
