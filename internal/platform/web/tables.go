package web

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"familiar/internal/chat"
)

// schema holds the steps of the tables. Times are milliseconds since 1970. web_turns holds the turns that run;
// web_messages is how a repeated id or key is known, and where the line of a message is.
var schema = []string{`
CREATE TABLE web_sessions (id TEXT PRIMARY KEY, title TEXT NOT NULL, created INTEGER NOT NULL,
	active INTEGER NOT NULL, next INTEGER NOT NULL, floor INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE web_events (session TEXT NOT NULL, idx INTEGER NOT NULL, at INTEGER NOT NULL, type TEXT NOT NULL,
	data TEXT NOT NULL, PRIMARY KEY (session, idx)) WITHOUT ROWID;
CREATE TABLE web_messages (session TEXT NOT NULL, message TEXT NOT NULL, key TEXT, ours INTEGER NOT NULL,
	idx INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (session, message)) WITHOUT ROWID;
CREATE UNIQUE INDEX web_messages_key ON web_messages (session, key) WHERE key IS NOT NULL;
CREATE TABLE web_turns (session TEXT NOT NULL, turn TEXT NOT NULL, PRIMARY KEY (session, turn)) WITHOUT ROWID;
`}

// The bounds of a stream.
const (
	keepEvents = 10_000
	keepFor    = 30 * 24 * time.Hour
)

// line is one event of a session's stream, as it goes over the wire.
type line struct {
	Index int64           `json:"index"`
	Type  string          `json:"type"`
	At    time.Time       `json:"at"`
	Data  json.RawMessage `json:"data"`
}

// stamp is the present moment as it is stored.
func stamp() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// pen writes lines of one session in a transaction, from index next on.
type pen struct {
	tx      *sql.Tx
	session string
	next    int64
	at      time.Time
}

// put writes one line and returns its index.
func put[D any](ctx context.Context, p *pen, kind string, data D) (int64, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return 0, err
	}
	index := p.next
	_, err = p.tx.ExecContext(ctx, `INSERT INTO web_events VALUES (?, ?, ?, ?, ?)`,
		p.session, index, p.at.UnixMilli(), kind, string(raw))
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", kind, err)
	}
	p.next++
	return index, nil
}

// close brings the session's row up to date, makes it when it is new, and drops what is more than keepEvents.
func (p *pen) close(ctx context.Context) error {
	floor := max(p.next-keepEvents, 0)
	_, err := p.tx.ExecContext(ctx, `INSERT INTO web_sessions VALUES (?1, '', ?2, ?2, ?3, ?4)
		ON CONFLICT (id) DO UPDATE SET active = max(active, ?2), next = max(next, ?3), floor = max(floor, ?4)`,
		p.session, p.at.UnixMilli(), p.next, floor)
	if err != nil || floor == 0 {
		return err
	}
	_, err = p.tx.ExecContext(ctx, `DELETE FROM web_events WHERE session = ? AND idx < ?`, p.session, floor)
	return err
}

// bounds returns the next index and the lowest one kept; ok is false for a session that is not known.
func (w *Web) bounds(ctx context.Context, session string) (next, floor int64, ok bool, err error) {
	err = w.db.Read().QueryRowContext(ctx, `SELECT next, floor FROM web_sessions WHERE id = ?`, session).
		Scan(&next, &floor)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, false, nil
	}
	return next, floor, err == nil, err
}

// lines returns at most limit lines with from <= index < to.
func (w *Web) lines(ctx context.Context, session string, from, to int64, limit int) (found []line, err error) {
	rows, err := w.db.Read().QueryContext(ctx, `SELECT idx, at, type, data FROM web_events
		WHERE session = ? AND idx >= ? AND idx < ? ORDER BY idx LIMIT ?`, session, from, to, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var l line
		var at int64
		var data string
		if err := rows.Scan(&l.Index, &at, &l.Type, &data); err != nil {
			return nil, err
		}
		l.At, l.Data = time.UnixMilli(at).UTC(), json.RawMessage(data)
		found = append(found, l)
	}
	return found, rows.Err()
}

// knownMessage says whether a message of that id was written in the session.
func (w *Web) knownMessage(ctx context.Context, session string, id chat.MessageID) (bool, error) {
	var n int
	err := w.db.Read().QueryRowContext(ctx, `SELECT count(*) FROM web_messages WHERE session = ? AND message = ?`,
		session, string(id)).Scan(&n)
	return n > 0, err
}

// forget drops what is older than keepFor. The row of a session stays, without its title, so that an index is
// never given twice.
func (w *Web) forget(ctx context.Context) error {
	before := time.Now().Add(-keepFor).UnixMilli()
	return w.db.Write(ctx, func(tx *sql.Tx) error {
		for _, step := range []string{
			`DELETE FROM web_events WHERE at < ?1`,
			`DELETE FROM web_messages WHERE at < ?1`,
			`DELETE FROM web_files WHERE at < ?1`,
			`UPDATE web_sessions SET title = CASE WHEN active < ?1 THEN '' ELSE title END,
				floor = coalesce((SELECT min(idx) FROM web_events WHERE session = id), next) WHERE created < ?1`,
		} {
			if _, err := tx.ExecContext(ctx, step, before); err != nil {
				return fmt.Errorf("forget old events: %w", err)
			}
		}
		return nil
	})
}
