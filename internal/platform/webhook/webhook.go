// Package webhook is the platform for programs of one's own: signed JSON comes in on POST /webhook/generic, signed
// JSON goes out to one configured address. The form of both is in docs/webhook.md.
//
// It promises: an event that was answered with 202 was heard, and is durable when it was accepted; nothing is read of
// a request that is not signed in time; a message that comes again is answered and not heard again. What goes out is
// durable when Do returns; it is sent in the order of its chat, again and again with growing waits, across restarts,
// until the other side has taken it or it becomes a dead letter. Sending may repeat what an answer got lost of: the
// header Idempotency-Key is then the same.
package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"familiar/internal/chat"
	"familiar/internal/markup"
	"familiar/internal/platform"
	"familiar/internal/sqlite"
)

// Name is the platform's word in places, files and metrics.
const Name = "webhook"

// MaxText is the longest text of one message that goes out, in runes.
const MaxText = 100_000

// Deps is what the platform needs of its host.
type Deps struct {
	Log *slog.Logger
	// Author says who wrote a message of a place, "" when that is not known; nil knows nobody.
	Author func(ctx context.Context, place chat.Place, message chat.MessageID) string
}

// Webhook is the platform. Safe for concurrent use.
type Webhook struct {
	db     *sqlite.DB
	cfg    Config
	deps   Deps
	secret []byte
	client *http.Client
	lanes  lanes
	woken  chan struct{} // there is something new to send
	ear    *platform.Ear
}

var (
	_ platform.Platform = (*Webhook)(nil)
	_ platform.Served   = (*Webhook)(nil)
)

// New makes the platform and its table. cfg was checked; without a secret there is no platform.
func New(ctx context.Context, db *sqlite.DB, cfg Config, deps Deps) (*Webhook, error) {
	if !cfg.Secret.Set() {
		return nil, errors.New("open the webhook platform: platforms.webhook.secret is required")
	}
	if err := db.Migrate(ctx, Name, schema...); err != nil {
		return nil, err
	}
	return &Webhook{db: db, cfg: cfg, deps: deps, secret: []byte(cfg.Secret.Reveal()), client: newClient(cfg),
		woken: make(chan struct{}, 1), ear: platform.NewEar(Name)}, nil
}

// Name returns "webhook".
func (w *Webhook) Name() string { return Name }

// Abilities says what the other side was said to understand. Without an address for replies it is told nothing.
func (w *Webhook) Abilities() chat.Abilities {
	able := chat.Abilities{MaxText: MaxText, Unit: chat.Runes, Idempotent: true, Redelivers: true}
	if w.cfg.Format == Plain {
		able.Render = markup.Plain
	}
	if w.cfg.ReplyURL == "" {
		return able
	}
	able.Edit, able.Delete, able.React = w.cfg.sends(doEdit), w.cfg.sends(doDelete), w.cfg.sends(doReact)
	able.Files, able.Buttons = w.cfg.sends(doFiles), w.cfg.sends(doAsk)
	return able
}

// Run takes posts until ctx ends. It returns when no post is being heard.
func (w *Webhook) Run(ctx context.Context, hear chat.Hear, up func()) error {
	if err := w.ear.Open(hear); err != nil {
		return err
	}
	defer w.ear.Close()
	up()
	<-ctx.Done()
	return nil
}
