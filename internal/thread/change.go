package thread

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Begin makes a new conversation of somebody, which becomes the current one; name "" takes the next number. The error
// is ErrTaken or ErrName where the name is not to be had.
func (s *Threads) Begin(ctx context.Context, of Whose, name string) (t Thread, err error) {
	if name != "" {
		var ok bool
		if name, ok = tidy(name); !ok {
			return Thread{}, ErrName
		}
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		t, err = s.begin(ctx, tx, of, name)
		return err
	})
	return t, wrap("begin a conversation", err)
}

// Switch makes the conversation of that name the current one, or returns ErrUnknown.
func (s *Threads) Switch(ctx context.Context, of Whose, name string) (t Thread, err error) {
	name, ok := tidy(name)
	if !ok {
		return Thread{}, ErrUnknown
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		if t, err = one(ctx, tx, `AND t.folded = ?4`, of, fold(name)); err != nil {
			return err
		}
		t.Current = true
		if err := s.touch(ctx, tx, t.ID); err != nil {
			return err
		}
		return s.point(ctx, tx, of, t.ID)
	})
	return t, wrap("switch to a conversation", err)
}

// Rename calls the current conversation something else.
func (s *Threads) Rename(ctx context.Context, of Whose, name string) (t Thread, err error) {
	name, ok := tidy(name)
	if !ok {
		return Thread{}, ErrName
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		if t, err = s.current(ctx, tx, of); err != nil {
			return err
		}
		other, err := one(ctx, tx, `AND t.folded = ?4`, of, fold(name))
		switch {
		case err == nil && other.ID != t.ID:
			return ErrTaken
		case err != nil && !errors.Is(err, ErrUnknown):
			return err
		}
		t.Name = name
		_, err = tx.ExecContext(ctx, `UPDATE threads SET name = ?, folded = ? WHERE id = ?`, name, fold(name), t.ID)
		return err
	})
	return t, wrap("rename a conversation", err)
}

// Bind keeps the session of the agent that a conversation goes on with; "" lets it begin anew. It takes the id that a
// turn began with, so that a turn which ends after a switch binds its own conversation. The error is ErrUnknown where
// the conversation is not kept any more.
func (s *Threads) Bind(ctx context.Context, id ID, agent string) error {
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE threads SET agent = ? WHERE id = ?`, agent, id)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrUnknown)
		}
		return nil
	})
	return wrap("bind a conversation", err)
}

func (s *Threads) touch(ctx context.Context, tx *sql.Tx, id ID) error {
	_, err := tx.ExecContext(ctx, `UPDATE threads SET used = ? WHERE id = ?`, s.now().UnixMilli(), id)
	return err
}

// sweep forgets which conversations old messages belong to.
func (s *Threads) sweep(ctx context.Context, tx *sql.Tx, of Whose) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM threads_messages WHERE platform = ?1 AND place = ?2 AND seq <= (
		SELECT seq FROM threads_messages WHERE platform = ?1 AND place = ?2 ORDER BY seq DESC LIMIT 1 OFFSET ?3)`,
		of.Place.Platform, of.Place.ID, messagesKept)
	if err == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM threads_messages WHERE at < ?`, s.now().Add(-messagesFor).Truncate(time.Minute).UnixMilli())
	}
	return err
}
