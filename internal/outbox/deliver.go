package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// How delivery is tried. A network that asks for a longer wait than waitMost has refused.
const (
	tries       = 3
	waitFirst   = 500 * time.Millisecond
	waitMost    = 10 * time.Second
	deliverTime = 30 * time.Second
	filesTime   = 3 * time.Minute // for what has to be uploaded
)

// patience is how long an action may take, with every try.
func patience(a chat.Action) time.Duration {
	if _, upload := a.(chat.SendFile); upload {
		return filesTime
	}
	return deliverTime
}

// deliver does what a row says and settles the row, however long the network took.
func (o *Outbox) deliver(ctx context.Context, p platform.Platform, r row) (chat.Receipt, error) {
	ctx = context.WithoutCancel(ctx)
	if r.at.IsZero() { // it is begun now, and not taken up from an earlier start
		r.at = o.deps.Now()
	}
	if words(r.action) && o.behind(ctx, r.place) {
		return chat.Receipt{}, o.heldBack(ctx, r)
	}
	limited, cancel := context.WithTimeout(ctx, patience(r.action)) // from here on: what is held takes time of its own
	defer cancel()
	receipt, err := try(limited, p, r.action)
	if after, hold := holds(p, r.action, err); hold {
		o.deps.Log.Warn("a message is held back until its network takes it", chat.KeyTurn, r.turn, chat.KeyPlatform, r.place.Platform, chat.KeyErr, err)
		o.held.later(r.place.Platform, o.deps.Now().Add(max(after, heldPause)))
		return chat.Receipt{}, o.heldBack(ctx, r)
	}
	if uncertain(err) {
		receipt, err = o.find(ctx, p, r, err)
	}
	switch {
	case err == nil:
		return o.arrived(ctx, r, receipt), nil
	case uncertain(err):
		return chat.Receipt{}, errors.Join(fmt.Errorf("deliver to %s: %w", r.place.Platform, err), o.ledger.settle(ctx, unknown, r))
	}
	return chat.Receipt{}, errors.Join(fmt.Errorf("deliver to %s: %w", r.place.Platform, err), o.ledger.settle(ctx, failed, r))
}

// arrived records what the network has. A ledger that cannot be written now does not make that untrue: the row stays
// pending and the next start settles it.
func (o *Outbox) arrived(ctx context.Context, r row, receipt chat.Receipt) chat.Receipt {
	r.message = receipt.Message
	if err := o.ledger.sent(ctx, r, o.noting(r, receipt)); err != nil {
		o.deps.Log.Error("a delivered message could not be recorded", chat.KeyTurn, r.turn, chat.KeyErr, err)
	}
	return receipt
}

// try asks the network, and again as long as that cannot do the thing twice.
func try(ctx context.Context, p platform.Platform, a chat.Action) (chat.Receipt, error) {
	wait := waitFirst
	for n := 1; ; n++ {
		receipt, err := do(ctx, p, a)
		if err == nil || n == tries {
			return receipt, err
		}
		var later platform.Temporary
		if errors.As(err, &later) {
			wait = max(wait, later.After)
		} else if !uncertain(err) || !p.Abilities().Idempotent {
			return receipt, err
		}
		if wait > waitMost {
			return receipt, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return receipt, err
		}
		wait *= 2
	}
}

// do asks the network once.
func do(ctx context.Context, p platform.Platform, a chat.Action) (receipt chat.Receipt, err error) {
	defer guard(&err)
	return p.Do(ctx, a)
}

// guard makes the panic of a platform its error: it has done nobody knows what. It is to be deferred.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = platform.Uncertain{Err: fmt.Errorf("the platform panicked: %v\n%s", r, debug.Stack())}
	}
}

// uncertain reports whether nobody knows if the network took the action.
func uncertain(err error) bool {
	var u platform.Uncertain
	return errors.As(err, &u) || errors.Is(err, context.DeadlineExceeded)
}

// noting keeps what we said in history.
func (o *Outbox) noting(r row, receipt chat.Receipt) func(*sql.Tx) error {
	us := chat.Person{Platform: r.place.Platform, ID: "self", Name: o.deps.Us, Bot: true, Us: true}
	m := chat.Message{ID: receipt.Message, From: us, At: receipt.At}
	switch a := r.action.(type) {
	case chat.Say:
		m.Text, m.ReplyTo = a.Text, a.ReplyTo
	case chat.Edit:
		m.Text, m.ReplyTo = a.Text, a.ReplyTo
	case chat.Ask:
		m.Text, m.ReplyTo = a.Text, a.ReplyTo
	case chat.SendFile:
		if r.document { // what a person was given alone is not told again
			return func(*sql.Tx) error { return nil }
		}
		m.Text, m.ReplyTo = a.Text, a.ReplyTo
		for _, f := range a.Files {
			m.Attachments = append(m.Attachments, chat.Attachment{Name: f.Name, MIME: f.MIME, Size: f.Size})
		}
	default:
		return func(*sql.Tx) error { return nil }
	}
	return o.deps.Noting(r.place, m)
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
