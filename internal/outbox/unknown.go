package outbox

import (
	"context"
	"fmt"
)

// Unknown counts the deeds of which nobody can tell whether they were done. It blocks for the disk only.
func (o *Outbox) Unknown(ctx context.Context) (n int64, err error) {
	err = o.ledger.db.Read().QueryRowContext(ctx, `SELECT count(*) FROM outbox WHERE state = ?`, unknown).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count what may be lost: %w", err)
	}
	return n, nil
}
