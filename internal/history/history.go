// Package history remembers what was said lately in each place. Networks that keep their own history are asked
// (platform.Historian); for those that keep none (the web page, webhooks) it keeps the newest 200 messages of a
// place, 30 days long, in the instance's database.
package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/sqlite"
)

// What is kept of a place.
const (
	KeptMessages = 200
	KeptFor      = 30 * 24 * time.Hour
)

// History answers what was said. Safe for concurrent use.
type History struct {
	db        *sqlite.DB
	now       func() time.Time
	platforms map[string]platform.Platform
	insert    *sql.Stmt
	cut       *sql.Stmt    // drops what of a place is over the bound
	forgot    atomic.Int64 // when what is too old was dropped, in milliseconds since 1970
}

// forgetEvery is how often what is too old is dropped: not with each message of a busy bot.
const forgetEvery = time.Minute

// Open prepares the table. platforms, by name, are asked when they can tell themselves.
func Open(ctx context.Context, db *sqlite.DB, platforms map[string]platform.Platform, now func() time.Time) (*History, error) {
	err := db.Migrate(ctx, "history", `CREATE TABLE history (
		seq INTEGER PRIMARY KEY AUTOINCREMENT,
		platform TEXT NOT NULL, place TEXT NOT NULL, message TEXT NOT NULL,
		at INTEGER NOT NULL, said TEXT NOT NULL);
		CREATE UNIQUE INDEX history_message ON history (platform, place, message);
		CREATE INDEX history_place ON history (platform, place, seq);
		CREATE INDEX history_at ON history (at)`)
	if err != nil {
		return nil, err
	}
	h := &History{db: db, now: now, platforms: platforms}
	if h.insert, err = db.Prepare(ctx, `INSERT INTO history (platform, place, message, at, said) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (platform, place, message) DO UPDATE SET said = excluded.said`); err != nil {
		return nil, err
	}
	h.cut, err = db.Prepare(ctx, `DELETE FROM history WHERE platform = ?1 AND place = ?2 AND seq <= (
		SELECT seq FROM history WHERE platform = ?1 AND place = ?2 ORDER BY seq DESC LIMIT 1 OFFSET ?3)`)
	return h, err
}

// Noting returns what keeps a message of a place, to run inside somebody's transaction; it does nothing for a
// network that keeps its own history. A message that is noted again (an edit of ours) replaces the text.
func (h *History) Noting(place chat.Place, m chat.Message) func(*sql.Tx) error {
	if h.historian(place) != nil || m.ID == "" {
		return func(*sql.Tx) error { return nil }
	}
	return func(tx *sql.Tx) error {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if _, err := tx.Stmt(h.insert).Exec(place.Platform, place.ID, string(m.ID), m.At.UnixMilli(), text); err != nil {
			return fmt.Errorf("note message: %w", err)
		}
		return h.forget(tx, place)
	}
}

// Unnoting returns what takes a message out again that Noting kept.
func (h *History) Unnoting(place chat.Place, id chat.MessageID) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM history WHERE platform = ? AND place = ? AND message = ?`, place.Platform, place.ID, id)
		return err
	}
}

// forget drops what is over the bounds.
func (h *History) forget(tx *sql.Tx, place chat.Place) error {
	_, err := tx.Stmt(h.cut).Exec(place.Platform, place.ID, KeptMessages)
	if now := h.now().UnixMilli(); err == nil && now-h.forgot.Load() >= forgetEvery.Milliseconds() {
		h.forgot.Store(now)
		_, err = tx.Exec(`DELETE FROM history WHERE at < ?`, h.now().Add(-KeptFor).UnixMilli())
	}
	if err != nil {
		return fmt.Errorf("forget old messages: %w", err)
	}
	return nil
}

// Before returns at most limit messages of a place that came before the given one ("" for the newest), oldest
// first.
func (h *History) Before(ctx context.Context, place chat.Place, before chat.MessageID, limit int) ([]chat.Message, error) {
	if far := h.historian(place); far != nil {
		return far.Before(ctx, place, before, limit)
	}
	rows, err := h.db.Read().QueryContext(ctx, `SELECT said FROM history WHERE platform = ?1 AND place = ?2
		AND seq < coalesce((SELECT seq FROM history WHERE platform = ?1 AND place = ?2 AND message = ?3), 9e18)
		ORDER BY seq DESC LIMIT ?4`, place.Platform, place.ID, before, limit)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	defer rows.Close() //nolint:errcheck // what matters is rows.Err
	var said []chat.Message
	for rows.Next() {
		m, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		said = append(said, m)
	}
	slices.Reverse(said)
	return said, rows.Err()
}

// Search asks the network for messages around a place; platform.ErrUnsupported where it cannot.
func (h *History) Search(ctx context.Context, place chat.Place, query string, limit int) ([]chat.Message, error) {
	far := h.historian(place)
	if far == nil || !h.platforms[place.Platform].Abilities().Search {
		return nil, platform.ErrUnsupported
	}
	return far.Search(ctx, place, query, limit)
}

// ErrUnknown says that a place has no such message, as far as can be told.
var ErrUnknown = errors.New("no such message")

// Find returns one message of a place, or ErrUnknown. On a network with its own history it looks through the
// newest 100.
func (h *History) Find(ctx context.Context, place chat.Place, id chat.MessageID) (chat.Message, error) {
	if far := h.historian(place); far != nil {
		newest, err := far.Before(ctx, place, "", 100)
		if err != nil {
			return chat.Message{}, err
		}
		if i := slices.IndexFunc(newest, func(m chat.Message) bool { return m.ID == id }); i >= 0 {
			return newest[i], nil
		}
		return chat.Message{}, ErrUnknown
	}
	m, err := scan(h.db.Read().QueryRowContext(ctx,
		`SELECT said FROM history WHERE platform = ? AND place = ? AND message = ?`, place.Platform, place.ID, id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return chat.Message{}, ErrUnknown
	}
	return m, err
}

func (h *History) historian(place chat.Place) platform.Historian {
	far, _ := h.platforms[place.Platform].(platform.Historian)
	return far
}

func scan(row func(...any) error) (chat.Message, error) {
	var text []byte
	if err := row(&text); err != nil {
		return chat.Message{}, fmt.Errorf("read history: %w", err)
	}
	var m chat.Message
	if err := json.Unmarshal(text, &m); err != nil {
		return chat.Message{}, fmt.Errorf("read history: %w", err)
	}
	return m, nil
}
