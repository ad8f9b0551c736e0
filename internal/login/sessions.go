package login

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"familiar/internal/sqlite"
)

// maxSessions is how many browsers are signed in at once; the one that would end first is signed out.
const maxSessions = 64

var schema = []string{
	`CREATE TABLE login_sessions (key BLOB PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID`, // until: Unix seconds
}

// sessions are the browsers that are signed in. They are asked about at every request, so they are held in
// memory; the table keeps them over a restart. Safe for concurrent use.
type sessions struct {
	db *sqlite.DB

	mu    sync.Mutex
	until map[key]time.Time
}

// load reads the sessions that are alive.
func (s *sessions) load(ctx context.Context, now time.Time) error {
	if err := s.db.Migrate(ctx, "login", schema...); err != nil {
		return err
	}
	rows, err := s.db.Read().QueryContext(ctx, `SELECT key, until FROM login_sessions WHERE until > ?`, now.Unix())
	if err != nil {
		return fmt.Errorf("read the page sessions: %w", err)
	}
	defer func() { _ = rows.Close() }()
	s.until = map[key]time.Time{}
	for rows.Next() {
		var raw []byte
		var until int64
		if err := rows.Scan(&raw, &until); err != nil {
			return fmt.Errorf("read the page sessions: %w", err)
		}
		if k := (key{}); len(raw) == len(k) {
			s.until[key(raw)] = time.Unix(until, 0)
		}
	}
	return rows.Err()
}

// add keeps a session, and clears away those that are over.
func (s *sessions) add(ctx context.Context, k key, now time.Time) error {
	until := now.Add(sessionLife)
	s.mu.Lock()
	gone := s.makeRoom(now)
	s.mu.Unlock()
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM login_sessions WHERE until <= ?`, now.Unix()); err != nil {
			return err
		}
		for _, old := range gone {
			if _, err := tx.ExecContext(ctx, `DELETE FROM login_sessions WHERE key = ?`, old[:]); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO login_sessions VALUES (?, ?)`, k[:], until.Unix())
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the page session: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until[k] = until
	return nil
}

// makeRoom drops what is over and, when there are too many, what would end first; it returns the latter.
func (s *sessions) makeRoom(now time.Time) (gone []key) {
	for k, until := range s.until {
		if !now.Before(until) {
			delete(s.until, k)
		}
	}
	for len(s.until) >= maxSessions {
		k := first(s.until)
		delete(s.until, k)
		gone = append(gone, k)
	}
	return gone
}

func (s *sessions) has(k key, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	until, known := s.until[k]
	return known && now.Before(until)
}
