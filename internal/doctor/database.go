package doctor

import (
	"context"
	"database/sql"
	"fmt"
)

// Backlog is something that should not grow.
type Backlog struct {
	What  string // as in «events that wait to be finished», whose number stands behind it
	Count func(context.Context) (int64, error)
	Most  int64 // up to here it is nothing to speak of
	Next  string
}

// Sound checks that a database is whole.
func Sound(ctx context.Context, db *sql.DB) Line {
	var found string
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return Bad("the database cannot be read: "+err.Error(), "stop the bot and put a backup of state/familiar.db in its place, or move it away to begin anew")
	}
	if found != "ok" {
		return Bad("the database is damaged: "+found, "stop the bot and put a backup of state/familiar.db in its place, or move it away to begin anew")
	}
	return Well("the database is whole")
}

// Look says how much there is of it.
func (b Backlog) Look(ctx context.Context) Line {
	n, err := b.Count(ctx)
	switch {
	case err != nil:
		return Bad(fmt.Sprintf("the %s cannot be counted: %s", b.What, err), "see the check of the database")
	case n > b.Most:
		return Doubtful(fmt.Sprintf("%s: %d", b.What, n), b.Next)
	}
	return Well("%s: %d", b.What, n)
}
