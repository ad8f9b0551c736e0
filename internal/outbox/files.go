package outbox

import (
	"context"
	"fmt"
	"os"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/tool"
)

// Attach sends files of a turn with a caption, which may be empty, in as many messages as they take. It returns the
// receipts of those, and how many files went out: fewer than there are when the network took some and then no more. An
// error says that none did, and what the agent can do about it.
func (o *Outbox) Attach(ctx context.Context, t chat.Turn, caption string, all []chat.File) (receipts []chat.Receipt, sent int, err error) {
	p, ok := o.deps.Platforms[t.Place.Platform]
	if !ok {
		return nil, 0, fmt.Errorf("deliver to %s: no such platform", t.Place.Platform)
	}
	receipts, sent, err = o.files(ctx, t, p, chat.SendFile{Place: t.Place, Files: all, Text: caption, ReplyTo: t.Answers()})
	switch {
	case err != nil && sent > 0:
		o.deps.Log.Warn("only some files of a turn went out", chat.KeyTurn, t.ID, chat.KeyErr, err)
		return receipts, sent, nil
	case err != nil:
		return nil, 0, o.explain(t, err)
	}
	return receipts, sent, nil
}

// files delivers files; the caption is with the first message. When nothing could be sent the slot is free again.
func (o *Outbox) files(ctx context.Context, t chat.Turn, p platform.Platform, a chat.SendFile) (receipts []chat.Receipt, sent int, err error) {
	messages, err := o.pack(t, p, a)
	if err != nil {
		return nil, 0, err
	}
	release, err := o.reserve(t, files)
	if err != nil {
		return nil, 0, err
	}
	for _, m := range messages {
		receipt, err := o.seen(t, m)(o.post(ctx, t, p, m))
		if err != nil {
			if uncertain(err) {
				o.count(t, func(c *tally) { c.doubt = true })
			} else if sent == 0 {
				release()
			}
			return receipts, sent, err
		}
		receipts, sent = append(receipts, receipt), sent+len(m.Files)
		o.count(t, func(c *tally) { c.file = receipt.Message })
	}
	return receipts, sent, nil
}

func (o *Outbox) post(ctx context.Context, t chat.Turn, p platform.Platform, a chat.SendFile) (chat.Receipt, error) {
	r := newRow(t, o.key(t), a)
	a.Key = r.key
	r.action = a
	if _, _, err := o.ledger.begin(ctx, []row{r}); err != nil {
		return chat.Receipt{}, err
	}
	return o.deliver(ctx, p, r)
}

// pack checks files and fits them, with their caption, into messages of the network.
func (o *Outbox) pack(t chat.Turn, p platform.Platform, a chat.SendFile) ([]chat.SendFile, error) {
	able := p.Abilities().In(t.Place)
	switch {
	case !able.Files:
		return nil, tool.Bad("files cannot be sent on %s", t.Place.Platform)
	case len(a.Files) == 0:
		return nil, tool.Bad("filePaths: there is no file")
	}
	if a.Text = o.deps.Vault.Mask(clean(a.Text)); blank(a.Text) {
		a.Text = ""
	} else {
		a.Text = Fit(a.Text, Frame{Max: able.MaxText, Unit: able.Unit, Render: able.Render, Parts: 1})[0]
	}
	if o.detached(t, a.ReplyTo) {
		a.ReplyTo = ""
	}
	var messages []chat.SendFile
	size := int64(0)
	for _, f := range a.Files {
		if able.MaxFileBytes > 0 && f.Size > able.MaxFileBytes {
			return nil, tool.Bad("filePaths: %s has %d bytes, and %s takes %d; nothing was sent", f.Name, f.Size, t.Place.Platform, able.MaxFileBytes)
		}
		if err := o.innocent(f); err != nil {
			return nil, err
		}
		last := len(messages) - 1
		full := last < 0 || able.MaxFiles > 0 && len(messages[last].Files) == able.MaxFiles ||
			able.MaxFileBytes > 0 && size+f.Size > able.MaxFileBytes
		if full {
			messages = append(messages, chat.SendFile{Place: a.Place, ReplyTo: a.ReplyTo, Text: a.Text})
			a.Text, size, last = "", 0, last+1
		}
		messages[last].Files = append(messages[last].Files, f)
		size += f.Size
	}
	return messages, nil
}

// searched bounds how much of a file is looked through for secrets, in bytes; longer ones are media.
const searched = 64 << 20

// innocent refuses a file in which a secret of ours stands in plain text.
func (o *Outbox) innocent(f chat.File) error {
	if f.Size > searched {
		return nil
	}
	raw, err := os.ReadFile(f.Path)
	if err != nil {
		return fmt.Errorf("look at a file: %w", err)
	}
	if text := string(raw); o.deps.Vault.Mask(text) != text {
		return tool.Bad("filePaths: %s holds a secret of this bot; nothing was sent", f.Name)
	}
	return nil
}
