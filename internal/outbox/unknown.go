package outbox

import (
	"context"
	"database/sql"
	"fmt"
)

// Unknown counts the deeds of which nobody can tell whether they were done. It blocks for the disk only.
func (o *Outbox) Unknown(ctx context.Context) (int64, error) {
	return UnknownIn(ctx, o.ledger.db.Read())
}

// UnknownIn counts them in the database of a bot that may be running or not.
func UnknownIn(ctx context.Context, db *sql.DB) (n int64, err error) {
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM outbox WHERE state = ?`, unknown).Scan(&n); err != nil {
		return 0, fmt.Errorf("count what may be lost: %w", err)
	}
	return n, nil
}
