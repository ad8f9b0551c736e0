package clock

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"familiar/internal/sqlite"
)

// store keeps the states. Times are Unix milliseconds, 0 for none.
type store struct{ db *sqlite.DB }

func openStore(ctx context.Context, db *sqlite.DB) (store, error) {
	err := db.Migrate(ctx, "clock", `CREATE TABLE clock (
		name TEXT PRIMARY KEY,
		next INTEGER NOT NULL,
		last INTEGER NOT NULL DEFAULT 0,
		slot INTEGER NOT NULL DEFAULT 0,
		cuts INTEGER NOT NULL DEFAULT 0,
		outcome TEXT NOT NULL DEFAULT '',
		runs INTEGER NOT NULL DEFAULT 0,
		misses INTEGER NOT NULL DEFAULT 0)`)
	return store{db}, err
}

// load reads all states. A row that cannot be read is named, not returned.
func load(ctx context.Context, db *sql.DB) (known map[string]State, broken []string, err error) {
	rows, err := db.QueryContext(ctx, `SELECT name, next, last, slot, cuts, outcome, runs, misses FROM clock ORDER BY name`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	known = map[string]State{}
	for rows.Next() {
		var st State
		var raw [7]any
		if err := rows.Scan(&st.Name, &raw[0], &raw[1], &raw[2], &raw[3], &raw[4], &raw[5], &raw[6]); err != nil {
			return nil, nil, err
		}
		if !st.read(raw) {
			broken = append(broken, st.Name)
			continue
		}
		known[st.Name] = st
	}
	return known, broken, rows.Err()
}

// read fills in a state from a row, and reports whether the row makes sense: SQLite keeps what it is given.
func (st *State) read(raw [7]any) bool {
	var n [7]int64
	for i, v := range raw {
		switch v := v.(type) {
		case int64:
			n[i] = v
		case string:
			st.Outcome = Outcome(v)
			if i != 4 {
				return false
			}
		default:
			return false
		}
	}
	known := slices.Contains([]Outcome{Never, Done, Failed, Skipped, CutOff}, st.Outcome)
	if n[0] <= 0 || slices.Min(n[:]) < 0 || !known {
		return false
	}
	st.Next, st.Last, st.slot = at(n[0]), at(n[1]), at(n[2])
	st.Running = n[2] != 0
	st.cuts, st.Runs, st.Misses = int(n[3]), int(n[5]), int(n[6])
	return true
}

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// save keeps one state, at the very end of the program too.
func (s store) save(ctx context.Context, st State) error {
	ctx = context.WithoutCancel(ctx)
	return s.db.Write(ctx, func(tx *sql.Tx) error { return put(ctx, tx, st) })
}

// replace keeps these states and no others.
func (s store) replace(ctx context.Context, all []State) error {
	return s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM clock`)
		for _, st := range all {
			err = errors.Join(err, put(ctx, tx, st))
		}
		return err
	})
}

func put(ctx context.Context, tx *sql.Tx, st State) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO clock (name, next, last, slot, cuts, outcome, runs, misses)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, st.Name, ms(st.Next), ms(st.Last), ms(st.slot), st.cuts, string(st.Outcome), st.Runs, st.Misses)
	return err
}
