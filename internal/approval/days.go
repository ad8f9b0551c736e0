package approval

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"familiar/internal/chat"
)

// spared reports whether a person said that they need not be asked about a tool again today.
func (a *Approvals) spared(ctx context.Context, who chat.Person, name string) (bool, error) {
	var n int
	err := a.deps.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM approval_days
		WHERE platform = ? AND person = ? AND tool = ? AND day = ?`, who.Platform, who.ID, name, a.today()).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("read standing answers: %w", err)
	}
	return n > 0, nil
}

// Days returns the tools that a person need not be asked about again today.
func (a *Approvals) Days(ctx context.Context, who chat.Person) (tools []string, err error) {
	rows, err := a.deps.DB.Read().QueryContext(ctx, `SELECT tool FROM approval_days
		WHERE platform = ? AND person = ? AND day = ? ORDER BY tool`, who.Platform, who.ID, a.today())
	if err != nil {
		return nil, fmt.Errorf("read standing answers: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("read standing answers: %w", err)
		}
		tools = append(tools, name)
	}
	return tools, rows.Err()
}

// Remove takes a standing answer back: the person is asked again. It reports whether there was one.
func (a *Approvals) Remove(ctx context.Context, who chat.Person, name string) (removed bool, err error) {
	err = a.deps.DB.Write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `DELETE FROM approval_days WHERE platform = ? AND person = ? AND tool = ?`,
			who.Platform, who.ID, name)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		removed = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("remove a standing answer: %w", err)
	}
	return removed, nil
}
