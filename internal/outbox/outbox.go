// Package outbox is the only door out. Whatever Familiar says or does on a network passes Do: quotas and the
// one-place rule, secrets taken out, the text fitted to the network, the deed written down before it is done
// and settled after. A reply goes out at most once: a crash in between is settled at the next start by the
// network's idempotency key, by looking for our own words, or by telling the person that we cannot tell.
package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/secret"
	"familiar/internal/sqlite"
	"familiar/internal/tool"
)

// Outbox delivers actions. Safe for concurrent use.
type Outbox struct {
	cfg    atomic.Pointer[Config]
	deps   Deps
	ledger ledger
	held   hold

	mu      sync.Mutex
	tallies map[chat.TurnID]*tally
}

// Deps is what an outbox works with. Seen, Noting and Lost may be nil.
type Deps struct {
	DB        *sqlite.DB
	Platforms map[string]platform.Platform
	Vault     *secret.Vault // secrets that never leave
	Us        string        // the bot's name, as history shows our own messages
	Now       func() time.Time
	Log       *slog.Logger

	// Noting returns what keeps a message of ours in history, in the transaction that settles it.
	Noting func(chat.Place, chat.Message) func(*sql.Tx) error
	// Seen is told of every action that was tried, except Typing and Show.
	Seen func(chat.Turn, chat.Action, chat.Receipt, error)
	// Lost tells the person that nobody knows whether an answer arrived, once for each event. It may call Do.
	Lost func(context.Context, Lost)
}

// Open prepares the ledger.
func Open(ctx context.Context, cfg Config, deps Deps) (*Outbox, error) {
	if deps.Noting == nil {
		deps.Noting = func(chat.Place, chat.Message) func(*sql.Tx) error { return func(*sql.Tx) error { return nil } }
	}
	if deps.Seen == nil {
		deps.Seen = func(chat.Turn, chat.Action, chat.Receipt, error) {}
	}
	if deps.Lost == nil {
		deps.Lost = func(context.Context, Lost) {}
	}
	o := &Outbox{deps: deps, tallies: map[chat.TurnID]*tally{}, held: hold{until: map[string]time.Time{}}}
	o.held.any.Store(true) // until somebody has looked
	o.Reload(cfg)
	var err error
	o.ledger, err = openLedger(ctx, deps.DB, deps.Now)
	return o, err
}

// Reload fits what is said from now on by another checked configuration.
func (o *Outbox) Reload(cfg Config) { o.cfg.Store(&cfg) }

// Do checks, fits, delivers and records one action of a turn. A tool.Fault says what the agent may read: 403
// for another place than the turn's own, 429 for a spent quota, 400 for what the network cannot take. Once
// delivery has begun it is not broken off when ctx ends: a stopped turn either said something or it did not. Words that
// a network surely did not take are held back and go out later; they have a receipt without a message.
func (o *Outbox) Do(ctx context.Context, t chat.Turn, a chat.Action) (chat.Receipt, error) {
	p, ok := o.deps.Platforms[a.Where().Platform]
	if !ok {
		return chat.Receipt{}, fmt.Errorf("deliver to %s: no such platform", a.Where().Platform)
	}
	if !a.Where().Same(t.Place) {
		return chat.Receipt{}, tool.Fault{Status: 403, Say: "a turn may speak only in the place that it answers"}
	}
	able := p.Abilities().In(t.Place)
	switch a := a.(type) {
	case chat.Typing:
		return o.show(ctx, p, a, able.Typing)
	case chat.Show:
		return o.show(ctx, p, a, able.Progress)
	case chat.Say:
		return o.seen(t, a)(o.say(ctx, t, p, a))
	case chat.Edit:
		return o.seen(t, a)(o.edit(ctx, t, p, a))
	case chat.React:
		return o.seen(t, a)(o.react(ctx, t, p, a))
	case chat.Ask:
		return o.seen(t, a)(o.ask(ctx, t, p, a))
	case chat.Delete, chat.SendFile: // files have a way of their own: Attach, Alone
	}
	return chat.Receipt{}, fmt.Errorf("deliver %T: %w", a, platform.ErrUnsupported)
}

// show does what is lossy: neither recorded nor tried again, and nothing where the platform cannot.
func (o *Outbox) show(ctx context.Context, p platform.Platform, a chat.Action, able bool) (chat.Receipt, error) {
	if !able {
		return chat.Receipt{}, nil
	}
	return do(ctx, p, a)
}

func (o *Outbox) seen(t chat.Turn, a chat.Action) func(chat.Receipt, error) (chat.Receipt, error) {
	return func(r chat.Receipt, err error) (chat.Receipt, error) {
		o.deps.Seen(t, a, r, err)
		return r, err
	}
}

// say delivers one reply in as many messages as it takes.
func (o *Outbox) say(ctx context.Context, t chat.Turn, p platform.Platform, a chat.Say) (chat.Receipt, error) {
	release, err := o.reserve(t, replies)
	if err != nil {
		return chat.Receipt{}, err
	}
	a.Text, a.Turn = o.deps.Vault.Mask(a.Text), t.ID
	if o.detached(t, a.ReplyTo) {
		a.ReplyTo = ""
	}
	rows := o.rows(t, p, a)
	if len(rows) == 0 {
		release()
		return chat.Receipt{}, tool.Bad("message: it is blank")
	}
	if receipt, known, err := o.ledger.begin(ctx, rows); err != nil || known {
		release()
		return receipt, err
	}
	var receipt chat.Receipt
	for i, row := range rows {
		if receipt, err = o.deliver(ctx, p, row); err == nil {
			continue
		}
		if errors.Is(err, errHeld) {
			return o.wait(ctx, t, rows[i+1:])
		}
		unsent := o.ledger.settle(context.WithoutCancel(ctx), failed, rows[i+1:]...)
		if i == 0 && !uncertain(err) {
			release()
			return chat.Receipt{}, errors.Join(err, unsent)
		}
		o.count(t, func(c *tally) { c.parts, c.doubt = i, uncertain(err) })
		return chat.Receipt{}, errors.Join(err, unsent)
	}
	if t.Kind != chat.Notice {
		o.count(t, func(c *tally) { c.reply, c.text, c.anchor, c.parts = receipt.Message, a.Text, a.ReplyTo, len(rows) })
	}
	return receipt, nil
}

// wait holds back what comes behind a message that is held back.
func (o *Outbox) wait(ctx context.Context, t chat.Turn, rest []row) (chat.Receipt, error) {
	o.count(t, func(c *tally) { c.parts = 0 })
	if len(rest) > 0 {
		if err := o.heldBack(context.WithoutCancel(ctx), rest...); !errors.Is(err, errHeld) {
			o.count(t, func(c *tally) { c.doubt = true })
			return chat.Receipt{}, err
		}
	}
	return chat.Receipt{At: o.deps.Now()}, nil
}

// rows fits a text and makes one row of the ledger for each message.
func (o *Outbox) rows(t chat.Turn, p platform.Platform, a chat.Say) []row {
	able, cfg := p.Abilities().In(t.Place), o.cfg.Load()
	parts := Fit(a.Text, Frame{Max: able.MaxText, Unit: able.Unit, Render: able.Render,
		Parts: cfg.MaxParts, Truncate: cfg.Overflow == Truncate})
	if a.Key == "" {
		a.Key = o.key(t)
	}
	var rows []row
	for i, text := range parts {
		if blank(text) {
			continue
		}
		part := a
		part.Text = text
		if part.Key = a.Key; i > 0 {
			part.Key = fmt.Sprintf("%s+%d", a.Key, i)
			if !able.Threaded {
				part.ReplyTo = ""
			}
		}
		rows = append(rows, newRow(t, part.Key, part))
	}
	return rows
}

// edit changes a message of ours; it must fit into one.
func (o *Outbox) edit(ctx context.Context, t chat.Turn, p platform.Platform, a chat.Edit) (chat.Receipt, error) {
	able := p.Abilities().In(t.Place)
	if !able.Edit {
		return chat.Receipt{}, tool.Bad("messages cannot be edited on %s", t.Place.Platform)
	}
	a.Text = o.deps.Vault.Mask(a.Text)
	if blank(a.Text) {
		return chat.Receipt{}, tool.Bad("message: it is blank")
	}
	if parts := Fit(a.Text, Frame{Max: able.MaxText, Unit: able.Unit, Render: able.Render}); len(parts) > 1 {
		return chat.Receipt{}, tool.Bad("message: it is too long for one message (%d %s), and an edit cannot be split", able.MaxText, able.Unit)
	}
	release, err := o.reserve(t, edits)
	if err != nil {
		return chat.Receipt{}, err
	}
	receipt, err := o.once(ctx, t, p, a)
	if uncertain(err) {
		// Where an edit cannot be asked for again, nobody knows whether anything of the reply is left.
		o.count(t, func(c *tally) { c.doubt = c.doubt || !able.Idempotent })
		return chat.Receipt{}, err
	}
	if err != nil {
		release()
		return chat.Receipt{}, err
	}
	o.count(t, func(c *tally) {
		if c.reply == a.Message {
			c.reply, c.text = receipt.Message, a.Text
		}
	})
	return receipt, nil
}

// react puts an emoji on a message.
func (o *Outbox) react(ctx context.Context, t chat.Turn, p platform.Platform, a chat.React) (chat.Receipt, error) {
	if !p.Abilities().React {
		return chat.Receipt{}, tool.Bad("there are no reactions on %s", t.Place.Platform)
	}
	if o.detached(t, a.Message) {
		return chat.Receipt{}, tool.Bad("the person took that message back; there is nothing to react to")
	}
	release, err := o.reserve(t, reactions)
	if err != nil {
		return chat.Receipt{}, err
	}
	receipt, err := o.once(ctx, t, p, a)
	if err != nil {
		release()
	}
	return receipt, err
}

// once records, delivers and settles an action that is one call on the network.
func (o *Outbox) once(ctx context.Context, t chat.Turn, p platform.Platform, a chat.Action) (chat.Receipt, error) {
	r := newRow(t, o.key(t), a)
	if _, _, err := o.ledger.begin(ctx, []row{r}); err != nil {
		return chat.Receipt{}, err
	}
	return o.deliver(ctx, p, r)
}
