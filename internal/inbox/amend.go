package inbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"familiar/internal/chat"
)

// What is kept of edits and recalls that came before their message.
const (
	earlyFor  = 10 * 60 * 1000 // ms: a network that delivers again does so within minutes
	earlyMost = 200
)

// Amend carries out an edit or a recall, within a transaction, on the message that it is about, and reports whether
// that is here and not finished. An edit replaces the text, so that a turn after a crash gets the new one; a recall
// finishes the message, whether or not a turn has begun. Only what its author says counts.
func (in *Inbox) Amend(tx *sql.Tx, amendment chat.Event) (found bool, err error) {
	var id chat.EventID
	var text []byte
	p, from := amendment.Place, amendment.From
	err = tx.QueryRow(`SELECT id, event FROM inbox WHERE state <> 'done' AND json_extract(event, '$.kind') = ?
		AND json_extract(event, '$.message') = ? AND json_extract(event, '$.place.platform') = ? AND json_extract(event, '$.place.id') = ?
		AND json_extract(event, '$.from.platform') = ? AND json_extract(event, '$.from.id') = ?`,
		chat.KindSaid, amendment.Concerns(), p.Platform, p.ID, from.Platform, from.ID).Scan(&id, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil && amendment.Body.Kind() == chat.KindRecalled {
		_, err = tx.Exec(`UPDATE inbox SET state = ?, event = '', at = ? WHERE id = ?`, done, in.now().UnixMilli(), id)
	} else if err == nil {
		err = in.rewrite(tx, id, text, amendment)
	}
	if err != nil {
		return false, fmt.Errorf("amend event: %w", err)
	}
	return true, nil
}

func (in *Inbox) rewrite(tx *sql.Tx, id chat.EventID, text []byte, edit chat.Event) error {
	var ev chat.Event
	if err := json.Unmarshal(text, &ev); err != nil {
		return err
	}
	ev, ok := ev.Amend(edit)
	if !ok {
		return nil
	}
	text, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE inbox SET event = ? WHERE id = ?`, text, id)
	return err
}

// Await keeps an edit or a recall for ten minutes, in case that its message comes after it.
func (in *Inbox) Await(tx *sql.Tx, amendment chat.Event) error {
	text, err := json.Marshal(amendment)
	if err != nil {
		return err
	}
	in.early.Add(1) // before it is seen; too high a count only costs a look
	p := amendment.Place
	if _, err = tx.Exec(`INSERT INTO inbox_early (platform, place, message, event, at) VALUES (?, ?, ?, ?, ?)`,
		p.Platform, p.ID, amendment.Concerns(), text, in.now().UnixMilli()); err == nil {
		_, err = tx.Exec(`DELETE FROM inbox_early WHERE at < ? OR seq <= (SELECT max(seq) FROM inbox_early) - ?`,
			in.now().UnixMilli()-earlyFor, earlyMost)
	}
	if err != nil {
		return fmt.Errorf("keep an early edit: %w", err)
	}
	return nil
}

// Overtaken returns the edits and recalls of a message that came before it, oldest first. In one transaction they are
// carried out and forgotten; on an error they stay.
func (in *Inbox) Overtaken(ctx context.Context, ev chat.Event, carry func(*sql.Tx, chat.Event) error) (amendments []chat.Event, err error) {
	if in.early.Load() == 0 || ev.Message == "" {
		return nil, nil
	}
	err = in.db.Write(ctx, func(tx *sql.Tx) error {
		amendments = nil
		if err := in.takeEarly(tx, ev, func(a chat.Event) { amendments = append(amendments, a) }); err != nil {
			return err
		}
		for _, a := range amendments {
			if err := carry(tx, a); err != nil {
				return err
			}
		}
		var left int64
		if err := tx.QueryRow(`SELECT count(*) FROM inbox_early`).Scan(&left); err != nil {
			return err
		}
		in.early.Store(left) // nobody else writes while this transaction does
		return nil
	})
	if err != nil {
		err = fmt.Errorf("carry out early edits: %w", err)
	}
	return amendments, err
}

func (in *Inbox) takeEarly(tx *sql.Tx, ev chat.Event, each func(chat.Event)) error {
	rows, err := tx.Query(`SELECT event FROM inbox_early WHERE platform = ? AND place = ? AND message = ? ORDER BY seq`,
		ev.Place.Platform, ev.Place.ID, ev.Message)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // what matters is rows.Err
	for rows.Next() {
		var text []byte
		var a chat.Event
		if err := rows.Scan(&text); err != nil {
			return err
		}
		if err := json.Unmarshal(text, &a); err != nil {
			return err
		}
		if a.From.Same(ev.From) {
			each(a)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = tx.Exec(`DELETE FROM inbox_early WHERE platform = ? AND place = ? AND message = ?`,
		ev.Place.Platform, ev.Place.ID, ev.Message)
	return err
}
