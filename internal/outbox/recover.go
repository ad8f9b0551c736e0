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

// Recover settles what a crash left pending, and returns how much that was; call it before anything is heard. A network
// that still knows our keys is asked again; of another we look for our own words in its newest messages; what nobody can
// tell becomes unknown: see Doubt.
func (o *Outbox) Recover(ctx context.Context) (settled int, err error) {
	rows, err := o.ledger.in(ctx, pending)
	if err != nil {
		return 0, fmt.Errorf("recover the outbox: %w", err)
	}
	var errs []error
	for _, r := range rows {
		errs = append(errs, o.settleOld(ctx, r))
	}
	return len(rows), errors.Join(errs...)
}

// settleOld finds out about one row.
func (o *Outbox) settleOld(ctx context.Context, r row) error {
	p, ok := o.deps.Platforms[r.place.Platform]
	if !ok {
		return o.ledger.settle(ctx, unknown, r)
	}
	if _, file := r.action.(chat.SendFile); file { // what was to be sent is gone
		return o.ledger.settle(ctx, unknown, r)
	}
	if able := p.Abilities(); able.Idempotent && (able.Remembers == 0 || o.deps.Now().Sub(r.at) < able.Remembers) {
		if words(r.action) && o.holdsBack(ctx, r.place) { // it was tried again, and stands in front of what waits there
			return o.keepBack(ctx, r)
		}
		_, err := o.deliver(ctx, p, r)
		return err
	}
	if receipt, found := lookFor(ctx, p, r); found == there {
		r.message = receipt.Message
		return o.ledger.sent(ctx, r, o.noting(r, receipt))
	}
	o.lost(ctx, r, true)
	return o.ledger.settle(ctx, unknown, r)
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

// clocks is how far the clock of a network may be from ours.
const clocks = 5 * time.Minute

// worded is what can be seen of a deed afterwards: its words, and what they answer; ok is false where there are none.
func worded(a chat.Action) (text string, answers chat.MessageID, ok bool) {
	switch a := a.(type) {
	case chat.Say:
		return a.Text, a.ReplyTo, true
	case chat.Edit:
		return a.Text, a.ReplyTo, true
	}
	return "", "", false
}

// ours looks for the words of a row among the newest messages of its place. The same words before what they answer are
// others; where they are older than the row, nobody can tell.
func ours(ctx context.Context, p platform.Platform, r row) (m chat.Message, seen sight, err error) {
	defer guard(&err)
	far, can := p.(platform.Historian)
	text, answers, ok := worded(r.action)
	if !can || !ok {
		return chat.Message{}, hidden, nil
	}
	ctx, cancel := context.WithTimeout(ctx, deliverTime)
	defer cancel()
	said, err := far.Before(ctx, r.place, "", lookBack)
	if err != nil {
		return chat.Message{}, hidden, err
	}
	for i := len(said) - 1; i >= 0; i-- {
		if answers != "" && said[i].ID == answers {
			return chat.Message{}, missing, nil
		}
		if said[i].From.Us && strings.TrimSpace(said[i].Text) == strings.TrimSpace(text) {
			if said[i].At.Before(r.at.Add(-clocks)) {
				return chat.Message{}, hidden, nil
			}
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
	return o.has(ctx, id, `does <> 'document' AND state <> 'failed'`)
}

// Doubt reports whether nobody can tell if an answer to an event arrived, or a part of it, and the person is to be told. It
// is for events whose turn has ended: what is still pending then, the disk did not let us settle.
func (o *Outbox) Doubt(ctx context.Context, id chat.EventID) (bool, error) {
	return o.has(ctx, id, `does IN ('say', 'file') AND state IN ('unknown', 'pending')`)
}

// has reports whether an event caused a deed such as this, a notice aside.
func (o *Outbox) has(ctx context.Context, id chat.EventID, such string) (is bool, err error) {
	err = o.deps.DB.Read().QueryRowContext(ctx, `SELECT count(*) > 0 FROM outbox WHERE event = ? AND why <> ? AND `+such, id, chat.Notice).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("read the outbox: %w", err)
	}
	return is, nil
}
