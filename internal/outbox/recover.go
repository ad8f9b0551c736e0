package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// Lost is a message of ours of which a crash hid whether it went out.
type Lost struct {
	Event chat.EventID
	Place chat.Place
}

// Recover settles what a crash left pending; call it before anything is heard. A network that still knows our
// keys is asked again; of another we look for our own words in its newest messages; what nobody can tell becomes
// unknown and is returned, so that the person can be told.
func (o *Outbox) Recover(ctx context.Context) ([]Lost, error) {
	rows, err := o.ledger.in(ctx, pending)
	if err != nil {
		return nil, fmt.Errorf("recover the outbox: %w", err)
	}
	var lost []Lost
	var errs []error
	for _, r := range rows {
		found, err := o.settleOld(ctx, r)
		errs = append(errs, err)
		if !found && r.answers() {
			lost = append(lost, Lost{r.event, r.place})
		}
	}
	return lost, errors.Join(errs...)
}

// answers reports whether somebody waits for the deed.
func (r row) answers() bool {
	switch r.action.(type) {
	case chat.Say:
		return true
	case chat.SendFile:
		return !r.document
	}
	return false
}

// settleOld finds out about one row, and reports whether it went out.
func (o *Outbox) settleOld(ctx context.Context, r row) (found bool, err error) {
	p, ok := o.deps.Platforms[r.place.Platform]
	if !ok {
		return false, o.ledger.settle(ctx, unknown, r)
	}
	if _, file := r.action.(chat.SendFile); file { // what was to be sent is gone
		return false, o.ledger.settle(ctx, unknown, r)
	}
	if able := p.Abilities(); able.Idempotent && (able.Remembers == 0 || o.deps.Now().Sub(r.at) < able.Remembers) {
		_, err := o.deliver(ctx, p, r)
		return err == nil, err
	}
	if say, ok := r.action.(chat.Say); ok {
		if m, found, err := ours(ctx, p, r.place, say); err == nil && found == there {
			r.message = m.ID
			return true, o.ledger.sent(ctx, r, o.noting(r, chat.Receipt{Message: m.ID, At: m.At}))
		}
	}
	return false, o.ledger.settle(ctx, unknown, r)
}

// lookBack is how many messages are searched for our own words.
const lookBack = 50

// sight is what was seen of our own words.
type sight int

const (
	hidden  sight = iota // nobody can look, or not far enough back
	missing              // they were not said
	there
)

// ours looks for what we said among the newest messages of a place.
func ours(ctx context.Context, p platform.Platform, place chat.Place, say chat.Say) (chat.Message, sight, error) {
	far, ok := p.(platform.Historian)
	if !ok {
		return chat.Message{}, hidden, nil
	}
	ctx, cancel := context.WithTimeout(ctx, deliverTime)
	defer cancel()
	said, err := far.Before(ctx, place, "", lookBack)
	if err != nil {
		return chat.Message{}, hidden, err
	}
	for i := len(said) - 1; i >= 0; i-- {
		if say.ReplyTo != "" && said[i].ID == say.ReplyTo {
			return chat.Message{}, missing, nil
		}
		if said[i].From.Us && strings.TrimSpace(said[i].Text) == strings.TrimSpace(say.Text) {
			return said[i], there, nil
		}
	}
	if len(said) < lookBack {
		return chat.Message{}, missing, nil
	}
	return chat.Message{}, hidden, nil
}

// in returns what is in a state that is not final, oldest first.
func (l ledger) in(ctx context.Context, s state) ([]row, error) {
	found, err := l.db.Read().QueryContext(ctx, `SELECT key, turn, why, event, place, does, action, at FROM outbox
		WHERE state = '`+string(s)+`' ORDER BY seq`) // written out, for the sake of the index
	if err != nil {
		return nil, err
	}
	defer found.Close() //nolint:errcheck // what matters is rows.Err
	var rows []row
	for found.Next() {
		var r row
		var does string
		var place, action []byte
		var at int64
		if err := found.Scan(&r.key, &r.turn, &r.why, &r.event, &place, &does, &action, &at); err != nil {
			return nil, err
		}
		r.at = time.UnixMilli(at)
		if err := json.Unmarshal(place, &r.place); err != nil {
			return nil, err
		}
		if r.action, err = decode(does, action); err != nil {
			return nil, err
		}
		r.document = does == doDocument
		rows = append(rows, r)
	}
	return rows, found.Err()
}

func decode(does string, text []byte) (chat.Action, error) {
	switch does {
	case doSay:
		return decodeAs[chat.Say](text)
	case doEdit:
		return decodeAs[chat.Edit](text)
	case doReact:
		return decodeAs[chat.React](text)
	case doAsk:
		return decodeAs[chat.Ask](text)
	case doFile, doDocument:
		return decodeAs[chat.SendFile](text)
	}
	return nil, fmt.Errorf("the ledger holds an unknown deed %q", does)
}

func decodeAs[A chat.Action](text []byte) (chat.Action, error) {
	var a A
	err := json.Unmarshal(text, &a)
	return a, err
}

// Replied reports whether an event was answered, or may have been: a reply, reaction, edit or file of a turn that it
// caused went out. Notices do not count, nor does what went to the person alone.
func (o *Outbox) Replied(ctx context.Context, id chat.EventID) (bool, error) {
	var n int
	err := o.deps.DB.Read().QueryRowContext(ctx, `SELECT count(*) FROM outbox
		WHERE event = ? AND why <> ? AND does <> ? AND state IN ('sent', 'unknown', 'held')`, id, chat.Notice, doDocument).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("read the outbox: %w", err)
	}
	return n > 0, nil
}
