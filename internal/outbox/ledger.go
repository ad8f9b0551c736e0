package outbox

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"familiar/internal/chat"
	"familiar/internal/sqlite"
)

// How long the ledger keeps what was sent: the words for a week, then their hash for a month in all.
const (
	textKept = 7 * 24 * time.Hour
	rowKept  = 30 * 24 * time.Hour
)

// state is how far a deed came.
type state string

const (
	pending state = "pending" // written down, perhaps done
	sent    state = "sent"
	failed  state = "failed"  // surely not done
	unknown state = "unknown" // nobody can tell
	held    state = "held"    // surely not done; it is tried again
)

// row is one deed: one message, edit or reaction.
type row struct {
	key     string
	turn    chat.TurnID
	why     chat.TurnKind
	event   chat.EventID
	place   chat.Place
	action  chat.Action
	message chat.MessageID
	at      time.Time // when it was written down; set in rows that were read

	document bool // it is no answer: see Alone
}

func newRow(t chat.Turn, key string, a chat.Action) row {
	ev, _ := t.Trigger()
	return row{key: key, turn: t.ID, why: t.Kind, event: ev.ID, place: t.Place, action: a}
}

// The words for the actions that the ledger holds.
const (
	doSay   = "say"
	doEdit  = "edit"
	doReact = "react"
	doAsk   = "ask"
	doFile  = "file"

	doDocument = "document" // files to a person alone, which are no answer
)

// ledger is the table of deeds.
type ledger struct {
	db  *sqlite.DB
	now func() time.Time
}

func openLedger(ctx context.Context, db *sqlite.DB, now func() time.Time) (ledger, error) {
	l := ledger{db, now}
	err := db.Migrate(ctx, "outbox", `CREATE TABLE outbox (
		seq INTEGER PRIMARY KEY AUTOINCREMENT,
		key TEXT NOT NULL UNIQUE,
		turn TEXT NOT NULL, why TEXT NOT NULL, event TEXT NOT NULL,
		place TEXT NOT NULL, does TEXT NOT NULL, action TEXT NOT NULL, hash TEXT NOT NULL,
		state TEXT NOT NULL, message TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL);
		CREATE INDEX outbox_event ON outbox (event);
		CREATE INDEX outbox_pending ON outbox (seq) WHERE state = 'pending';
		CREATE INDEX outbox_old ON outbox (at)`,
		`CREATE INDEX outbox_held ON outbox (seq) WHERE state = 'held'`)
	return l, err
}

// ErrUnwritten says that a deed could not be written down, and so was not begun.
var ErrUnwritten = errors.New("record before sending")

// begin writes rows down as pending. When the first key is there already, the deed was begun before: nothing is
// written, and what became of it is returned. A deed that surely failed may be begun again.
func (l ledger) begin(ctx context.Context, rows []row) (was chat.Receipt, known bool, err error) {
	err = l.db.Write(ctx, func(tx *sql.Tx) error {
		var at int64
		err := tx.QueryRowContext(ctx, `SELECT message, at FROM outbox WHERE key = ? AND state <> ?`, rows[0].key, failed).Scan(&was.Message, &at)
		if err == nil {
			known, was.At = true, time.UnixMilli(at)
			return nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		for _, r := range rows {
			if _, err := tx.ExecContext(ctx, `DELETE FROM outbox WHERE key = ? AND state = ?`, r.key, failed); err != nil {
				return err
			}
			if err := l.insert(ctx, tx, r); err != nil {
				return err
			}
		}
		return l.prune(ctx, tx)
	})
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnwritten, err)
	}
	return was, known, err
}

func (l ledger) insert(ctx context.Context, tx *sql.Tx, r row) error {
	does, text := describe(r.action)
	if r.document {
		does = doDocument
	}
	action, err := json.Marshal(r.action)
	if err != nil {
		return err
	}
	place, err := json.Marshal(r.place)
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(text))
	_, err = tx.ExecContext(ctx, `INSERT INTO outbox (key, turn, why, event, place, does, action, hash, state, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.key, r.turn, r.why, r.event, string(place), does, string(action),
		"sha256:"+hex.EncodeToString(hash[:]), pending, l.now().UnixMilli())
	return err
}

func describe(a chat.Action) (does, text string) {
	switch a := a.(type) {
	case chat.Say:
		return doSay, a.Text
	case chat.Edit:
		return doEdit, a.Text
	case chat.React:
		return doReact, a.Emoji
	case chat.Ask:
		return doAsk, a.Text
	case chat.SendFile:
		return doFile, a.Text
	}
	return fmt.Sprintf("%T", a), ""
}

// prune drops old words and old rows.
func (l ledger) prune(ctx context.Context, tx *sql.Tx) error {
	now := l.now()
	if _, err := tx.ExecContext(ctx, `DELETE FROM outbox WHERE at < ?`, now.Add(-rowKept).UnixMilli()); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE outbox SET action = '' WHERE at < ? AND action <> '' AND state NOT IN ('pending', 'held')`,
		now.Add(-textKept).UnixMilli())
	return err
}

// sent settles a row whose deed is done, and does also in the same transaction.
func (l ledger) sent(ctx context.Context, r row, also func(*sql.Tx) error) error {
	return l.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE outbox SET state = ?, message = ? WHERE key = ?`, sent, r.message, r.key); err != nil {
			return err
		}
		return also(tx)
	})
}

// settle gives rows a final state.
func (l ledger) settle(ctx context.Context, s state, rows ...row) error {
	if len(rows) == 0 {
		return nil
	}
	return l.db.Write(ctx, func(tx *sql.Tx) error {
		for _, r := range rows {
			if _, err := tx.ExecContext(ctx, `UPDATE outbox SET state = ? WHERE key = ?`, s, r.key); err != nil {
				return err
			}
		}
		return nil
	})
}
