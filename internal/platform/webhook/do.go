package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// errMute says that there is nobody to tell.
var errMute = fmt.Errorf("the webhook has no address for replies (platforms.webhook.replyUrl): %w", platform.ErrUnsupported)

// Do puts the action into the queue of its chat; when it returns, it is on the disk and will be sent. A full queue is
// Temporary.
func (w *Webhook) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	if w.cfg.ReplyURL == "" {
		return chat.Receipt{}, errMute
	}
	place := a.Where()
	if place.Platform != Name || !isID(place.ID) {
		return chat.Receipt{}, fmt.Errorf("%s %q is no chat of the webhook", place.Platform, place.ID)
	}
	if err := ctx.Err(); err != nil {
		return chat.Receipt{}, err
	}
	p, err := w.pack(a)
	if err != nil {
		return chat.Receipt{}, err
	}
	p.letter.ChatID = place.ID
	if p.letter.ReplyTo != "" && w.deps.Author != nil {
		p.letter.UserID = w.deps.Author(ctx, place, p.letter.ReplyTo)
	}
	return w.post(ctx, p)
}

// packet is a letter and what the queue must know of it.
type packet struct {
	letter
	key  string // its idempotency key; "" for none
	turn chat.TurnID
}

// counted says whether it is one of the messages that answer something.
func (p packet) counted() bool {
	return p.Type == typeMessage || p.Type == typeFiles || p.Type == typeQuestion
}

// pack turns an action into a letter, if the other side understands it.
func (w *Webhook) pack(a chat.Action) (p packet, err error) {
	able := w.Abilities()
	if able.Render == nil {
		able.Render = func(text string) string { return text }
	}
	can := true
	switch a := a.(type) {
	case chat.Say:
		p = packet{letter{Type: typeMessage, ReplyTo: a.ReplyTo, Text: able.Render(a.Text)}, a.Key, a.Turn}
	case chat.Edit:
		can = able.Edit
		p.letter = letter{Type: typeEdit, MessageID: a.Message, ReplyTo: a.ReplyTo, Text: able.Render(a.Text)}
	case chat.Delete:
		can = able.Delete
		p.letter = letter{Type: typeDelete, MessageID: a.Message}
	case chat.React:
		can = able.React
		p.letter = letter{Type: typeReaction, MessageID: a.Message, Emoji: a.Emoji}
	case chat.Ask:
		can = able.Buttons
		p = packet{letter{Type: typeQuestion, ReplyTo: a.ReplyTo, Text: able.Render(a.Text)}, a.Key, a.Turn}
		for _, o := range a.Options {
			p.Options = append(p.Options, option(o))
		}
	case chat.SendFile:
		if can = able.Files; !can {
			break
		}
		p.letter, p.key = letter{Type: typeFiles, ReplyTo: a.ReplyTo, Text: able.Render(a.Text)}, a.Key
		p.Files, err = enclose(a.Files)
	default:
		can = false
	}
	if !can {
		err = platform.ErrUnsupported
	}
	return p, err
}

// post queues a packet, unless one of its key was queued before.
func (w *Webhook) post(ctx context.Context, p packet) (chat.Receipt, error) {
	queued, err := w.enqueue(ctx, p)
	switch {
	case errors.Is(err, errFull):
		return chat.Receipt{}, platform.Temporary{Err: err}
	case err != nil:
		return chat.Receipt{}, fmt.Errorf("queue a reply: %w", err)
	}
	w.wake()
	receipt := chat.Receipt{Message: chat.MessageID(queued.id), At: time.UnixMilli(queued.at).UTC()}
	if !p.counted() { // it is about a message that has an id
		receipt.Message = p.MessageID
	}
	return receipt, nil
}

// wake tells Deliver that there is something new.
func (w *Webhook) wake() {
	select {
	case w.woken <- struct{}{}:
	default: // it has been told
	}
}
