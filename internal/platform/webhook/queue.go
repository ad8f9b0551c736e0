package webhook

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"familiar/internal/chat"
)

// schema holds the steps of the table. Times are milliseconds since 1970. thread is the message of a chat that
// something answers; the body is dropped when it was delivered, the rest stays as long as its key may come again.
var schema = []string{`
CREATE TABLE webhook_out (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL,
	place TEXT NOT NULL, turn TEXT NOT NULL, thread TEXT NOT NULL, person TEXT NOT NULL, counted INTEGER NOT NULL,
	body BLOB NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL, due INTEGER NOT NULL, fault TEXT NOT NULL,
	at INTEGER NOT NULL);
CREATE UNIQUE INDEX webhook_key ON webhook_out (place, key) WHERE key <> '';
CREATE INDEX webhook_queued ON webhook_out (place, seq) WHERE state = 'queued';
CREATE INDEX webhook_dead ON webhook_out (seq) WHERE state = 'dead';
CREATE INDEX webhook_thread ON webhook_out (place, thread);
CREATE INDEX webhook_turn ON webhook_out (turn) WHERE turn <> '';
CREATE INDEX webhook_old ON webhook_out (at)`}

// state is how far a letter came.
type state string

const (
	queued state = "queued"
	sent   state = "sent"
	dead   state = "dead"
)

// Bounds of the table.
const (
	maxQueued = 10_000
	maxDead   = 1000
	keptFor   = 30 * 24 * time.Hour // a letter that is settled
)

// errFull says that too much waits already.
var errFull = fmt.Errorf("%d replies wait to be delivered; the other side has to take some first", maxQueued)

// slip is what the queue says of a letter.
type slip struct {
	id string
	at int64
}

// enqueue writes a letter down, unless one of its key is there.
func (w *Webhook) enqueue(ctx context.Context, p packet) (s slip, err error) {
	err = w.db.Write(ctx, func(tx *sql.Tx) error {
		s = slip{newID(), time.Now().UnixMilli()}
		if p.key != "" {
			var was slip
			err := tx.QueryRowContext(ctx, `SELECT id, at FROM webhook_out WHERE place = ? AND key = ?`, p.ChatID, p.key).Scan(&was.id, &was.at)
			if err == nil {
				s = was
				return nil
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		if err := room(ctx, tx); err != nil {
			return err
		}
		return insert(ctx, tx, s, p)
	})
	return s, err
}

// room drops what is old, and refuses when too much waits.
func room(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_out WHERE at < ? AND state <> 'queued'`,
		time.Now().Add(-keptFor).UnixMilli()); err != nil {
		return err
	}
	var waiting int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM webhook_out WHERE state = 'queued'`).Scan(&waiting)
	if err == nil && waiting >= maxQueued {
		return errFull
	}
	return err
}

// insert gives a letter its place among those that answer the same message. The later parts of one reply say what
// they answer as its first does.
func insert(ctx context.Context, tx *sql.Tx, s slip, p packet) error {
	if p.ReplyTo == "" && p.turn != "" && p.counted() {
		err := tx.QueryRowContext(ctx, `SELECT thread, person FROM webhook_out WHERE turn = ? AND place = ? ORDER BY seq DESC LIMIT 1`,
			p.turn, p.ChatID).Scan(&p.ReplyTo, &p.UserID)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	if p.counted() {
		p.MessageID = chat.MessageID(s.id)
		err := tx.QueryRowContext(ctx, `SELECT 1 + count(*) FROM webhook_out WHERE place = ?1 AND thread = ?2 AND counted
			AND (?2 <> '' OR turn = ?3)`, p.ChatID, p.ReplyTo, p.turn).Scan(&p.Sequence)
		if err != nil {
			return err
		}
	}
	body, err := json.Marshal(p.letter)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO webhook_out (id, key, place, turn, thread, person, counted, body, state, tries, due, fault, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, '', ?)`, s.id, p.key, p.ChatID, p.turn, p.ReplyTo, p.UserID, p.counted(), body,
		queued, s.at, s.at)
	return err
}

// head is the letter of a chat that goes next.
type head struct {
	seq   int64
	id    string
	place string
	tries int
	due   time.Time
}

// heads returns the next letter of each chat, at most limit, the most urgent first.
func (w *Webhook) heads(ctx context.Context, limit int) (all []head, err error) {
	rows, err := w.db.Read().QueryContext(ctx, `SELECT seq, id, place, tries, due FROM webhook_out WHERE seq IN
		(SELECT min(seq) FROM webhook_out WHERE state = 'queued' GROUP BY place) ORDER BY due, seq LIMIT ?`, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var h head
		var due int64
		if err := rows.Scan(&h.seq, &h.id, &h.place, &h.tries, &due); err != nil {
			return nil, err
		}
		h.due = time.UnixMilli(due)
		all = append(all, h)
	}
	return all, rows.Err()
}

// body reads a letter; sql.ErrNoRows when an attempt was made since the head was read. It is called while nobody else
// sends for that chat.
func (w *Webhook) body(ctx context.Context, h head) (body []byte, err error) {
	err = w.db.Read().QueryRowContext(ctx, `SELECT body FROM webhook_out WHERE seq = ? AND state = 'queued' AND tries = ?`,
		h.seq, h.tries).Scan(&body)
	return body, err
}

// settle notes that a letter was delivered and drops its words.
func (w *Webhook) settle(ctx context.Context, h head) error {
	return w.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE webhook_out SET state = ?, tries = tries + 1, body = '', fault = '' WHERE seq = ?`, sent, h.seq)
		return err
	})
}

// postpone notes why an attempt failed and when the next is due.
func (w *Webhook) postpone(ctx context.Context, h head, due time.Time, fault string) error {
	return w.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE webhook_out SET tries = tries + 1, due = ?, fault = ? WHERE seq = ?`, due.UnixMilli(), fault, h.seq)
		return err
	})
}

// bury makes a dead letter, and drops the oldest when there are too many.
func (w *Webhook) bury(ctx context.Context, h head, fault string) error {
	return w.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE webhook_out SET state = ?, tries = tries + 1, fault = ? WHERE seq = ?`, dead, fault, h.seq); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM webhook_out WHERE state = 'dead' AND seq <=
			(SELECT seq FROM webhook_out WHERE state = 'dead' ORDER BY seq DESC LIMIT 1 OFFSET ?)`, maxDead)
		return err
	})
}
