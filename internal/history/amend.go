package history

import (
	"database/sql"
	"fmt"

	"familiar/internal/chat"
)

// Amend carries out an edit or a recall of a message by its author, within a transaction, and reports whether it
// changed what is kept. An edit that is older than the one before it changes nothing. A network that keeps its own
// history is not ours to change.
func (h *History) Amend(tx *sql.Tx, amendment chat.Event) (changed bool, err error) {
	p, from := amendment.Place, amendment.From
	which := []any{p.Platform, p.ID, amendment.Concerns(), from.Platform, from.ID}
	const where = ` WHERE platform = ?1 AND place = ?2 AND message = ?3
		AND json_extract(said, '$.from.platform') = ?4 AND json_extract(said, '$.from.id') = ?5`
	var res sql.Result
	switch body := amendment.Body.(type) {
	case chat.Edited:
		at := amendment.At.UnixMilli()
		res, err = tx.Exec(`UPDATE history SET said = json_set(said, '$.text', ?6, '$.revised', ?7)`+where+
			` AND coalesce(json_extract(said, '$.revised'), 0) <= ?7`, append(which, body.Text, at)...)
	case chat.Recalled:
		res, err = tx.Exec(`DELETE FROM history`+where, which...)
	default:
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("amend history: %w", err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}
