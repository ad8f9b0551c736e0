package kv

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"familiar/internal/sqlite"
)

// SQLite is a Store in the instance's database.
type SQLite struct {
	db  *sqlite.DB
	now func() time.Time
}

// NewSQLite prepares the table; now is the clock, time.Now in a program.
func NewSQLite(ctx context.Context, db *sqlite.DB, now func() time.Time) (*SQLite, error) {
	err := db.Migrate(ctx, "kv", `CREATE TABLE kv (
		key TEXT PRIMARY KEY, value TEXT NOT NULL, until INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID`)
	return &SQLite{db, now}, err
}

// Peek looks into the table of a database that is only read. ErrMissing says that there is none yet.
func Peek(ctx context.Context, db *sqlite.DB, now func() time.Time) (*SQLite, error) {
	there, err := db.Has(ctx, "kv")
	if err == nil && !there {
		err = ErrMissing
	}
	return &SQLite{db, now}, err
}

// live selects what has not expired; its one parameter is the present in ms.
const live = ` AND (until = 0 OR until > ?)`

// Load implements Store.
func (s *SQLite) Load(ctx context.Context, key string) (string, error) {
	var value string
	err := s.db.Read().QueryRowContext(ctx, `SELECT value FROM kv WHERE key = ?`+live, key, s.now().UnixMilli()).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", ErrMissing
	}
	return value, wrap("load", err)
}

// Many implements Store.
func (s *SQLite) Many(ctx context.Context, keys ...string) (map[string]string, error) {
	values := map[string]string{}
	for _, key := range keys {
		value, err := s.Load(ctx, key)
		if errors.Is(err, ErrMissing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		values[key] = value
	}
	return values, nil
}

// Save implements Store; it also drops what has expired.
func (s *SQLite) Save(ctx context.Context, key, value string, ttl time.Duration) error {
	now, until := s.now().UnixMilli(), int64(0)
	if ttl > 0 {
		until = now + ttl.Milliseconds()
	}
	return wrap("save", s.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM kv WHERE until > 0 AND until <= ?`, now); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO kv VALUES (?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until`, key, value, until)
		return err
	}))
}

// Delete implements Store.
func (s *SQLite) Delete(ctx context.Context, keys ...string) error {
	return wrap("delete", s.db.Write(ctx, func(tx *sql.Tx) error {
		for _, key := range keys {
			if _, err := tx.ExecContext(ctx, `DELETE FROM kv WHERE key = ?`, key); err != nil {
				return err
			}
		}
		return nil
	}))
}

// List implements Store.
func (s *SQLite) List(ctx context.Context, prefix string) ([]string, error) {
	rows, err := s.db.Read().QueryContext(ctx,
		`SELECT key FROM kv WHERE substr(key, 1, length(?)) = ?`+live+` ORDER BY key`, prefix, prefix, s.now().UnixMilli())
	if err != nil {
		return nil, wrap("list", err)
	}
	defer rows.Close() //nolint:errcheck // what matters is rows.Err
	var keys []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, wrap("list", err)
		}
		keys = append(keys, key)
	}
	return keys, wrap("list", rows.Err())
}

// Entry is a key with its value. Until is when it expires; zero: never.
type Entry struct {
	Key   string    `json:"key"`
	Value string    `json:"value"`
	Until time.Time `json:"until,omitzero"`
}

// All returns what is kept, in the order of the keys.
func (s *SQLite) All(ctx context.Context) ([]Entry, error) {
	rows, err := s.db.Read().QueryContext(ctx, `SELECT key, value, until FROM kv WHERE true`+live+` ORDER BY key`, s.now().UnixMilli())
	if err != nil {
		return nil, wrap("list", err)
	}
	defer rows.Close() //nolint:errcheck // what matters is rows.Err
	var all []Entry
	for rows.Next() {
		var e Entry
		var until int64
		if err := rows.Scan(&e.Key, &e.Value, &until); err != nil {
			return nil, wrap("list", err)
		}
		if until > 0 {
			e.Until = time.UnixMilli(until)
		}
		all = append(all, e)
	}
	return all, wrap("list", rows.Err())
}

func wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("kv: %s: %w", verb, err)
}
