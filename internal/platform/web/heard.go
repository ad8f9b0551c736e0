package web

import (
	"context"
	"database/sql"
	"fmt"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

var _ platform.Witness = (*Web)(nil)

// Heard writes on its stream an event that was accepted, if a crash came before that.
func (w *Web) Heard(ctx context.Context, ev chat.Event) error {
	if ev.Place.Platform != Name || !isSession(ev.Place.ID) {
		return fmt.Errorf("%s %q is no session of the web platform", ev.Place.Platform, ev.Place.ID)
	}
	f, done, err := w.use(ctx, ev.Place.ID)
	if err != nil {
		return fmt.Errorf("find the session: %w", err)
	}
	defer done()
	f.posting.Lock()
	defer f.posting.Unlock()
	known, err := w.knownMessage(ctx, f.session, ev.Message)
	if err != nil {
		return fmt.Errorf("look for the message: %w", err)
	}
	if known {
		return nil
	}
	return f.restore(ctx, w, ev)
}

// restore writes a message that was heard by an earlier process: where it would have stood, when the stream holds
// something that it caused, else at the end.
func (f *feed) restore(ctx context.Context, w *Web, ev chat.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	held, ok, err := w.held(ctx, f.session, ev.Message)
	if err != nil {
		return fmt.Errorf("find the place of the message: %w", err)
	}
	at := f.next
	if ok {
		at = held
	}
	p, err := f.commit(ctx, w, at, func(p *pen) error { return receive(ctx, p, ev) })
	if err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	f.next = max(f.next, p.next)
	f.wake()
	return nil
}

// held returns the first of the two indexes that were held for a message and never filled: the last such gap above
// what the message caused.
func (w *Web) held(ctx context.Context, session string, message chat.MessageID) (index int64, ok bool, err error) {
	_, floor, known, err := w.bounds(ctx, session)
	if err != nil || !known {
		return 0, false, err
	}
	var at sql.NullInt64
	err = w.db.Read().QueryRowContext(ctx, `SELECT max(idx) - 2 FROM
		(SELECT idx, lag(idx, 1, ?2) OVER (ORDER BY idx) AS above FROM web_events WHERE session = ?1)
		WHERE idx - above > 2 AND idx <= (SELECT min(idx) FROM web_events WHERE session = ?1
			AND ?3 IN (json_extract(data, '$.replyTo'), json_extract(data, '$.answers')))`,
		session, floor-1, string(message)).Scan(&at)
	return at.Int64, at.Valid, err
}
