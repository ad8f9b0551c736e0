package outbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/tool"
)

// Document is a text that is sent as a file.
type Document struct {
	Name string // of the file, without a directory
	MIME string
	Text string
}

// Alone sends a document to the person of the turn where nobody else can read it, wherever the turn is: it is the one
// exception from the rule that a turn speaks only in its own place. A network that takes no files, and a person who
// cannot be spoken to alone, are a tool.Fault of 400. Secrets are taken out of the text.
func (o *Outbox) Alone(ctx context.Context, t chat.Turn, d Document) (chat.Receipt, error) {
	p, ok := o.deps.Platforms[t.Place.Platform]
	if !ok {
		return chat.Receipt{}, fmt.Errorf("deliver to %s: no such platform", t.Place.Platform)
	}
	if !p.Abilities().Files {
		return chat.Receipt{}, tool.Bad("files cannot be sent on %s", t.Place.Platform)
	}
	place, err := direct(ctx, p, t)
	if err != nil {
		return chat.Receipt{}, err
	}
	release, err := o.reserve(t, documents)
	if err != nil {
		return chat.Receipt{}, err
	}
	d.Text = o.deps.Vault.Mask(d.Text)
	a := chat.SendFile{Place: place, Files: []chat.File{{Name: d.Name, MIME: d.MIME, Size: int64(len(d.Text))}}}
	receipt, err := o.seen(t, a)(o.document(ctx, t, p, a, d.Text))
	if err != nil {
		release()
		return chat.Receipt{}, o.explain(t, err)
	}
	return receipt, nil
}

// direct returns the place in which nobody but the person of a turn hears us.
func direct(ctx context.Context, p platform.Platform, t chat.Turn) (chat.Place, error) {
	if t.Place.Private() {
		return t.Place, nil
	}
	guide, ok := p.(platform.Guide)
	if !ok {
		return chat.Place{}, tool.Bad("nobody can be spoken to alone on %s", t.Place.Platform)
	}
	place, err := guide.Direct(ctx, t.From)
	switch {
	case err != nil:
		say := tool.Bad("this person cannot be written to directly now: nothing was sent")
		return chat.Place{}, errors.Join(say, fmt.Errorf("find the direct place: %w", err))
	case !place.Private():
		return chat.Place{}, fmt.Errorf("%s gave a place that others can read for a person alone", t.Place.Platform)
	}
	return place, nil
}

// document writes the text to the one file of a for as long as it is delivered.
func (o *Outbox) document(ctx context.Context, t chat.Turn, p platform.Platform, a chat.SendFile, text string) (_ chat.Receipt, err error) {
	dir, err := os.MkdirTemp("", "familiar-document-")
	if err != nil {
		return chat.Receipt{}, fmt.Errorf("write the document: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "document")
	if !utf8.ValidString(text) {
		return chat.Receipt{}, errors.New("write the document: it is not text")
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return chat.Receipt{}, fmt.Errorf("write the document: %w", err)
	}
	file := a.Files[0]
	file.Path = path
	a.Files = []chat.File{file}
	r := newRow(t, o.key(t), a)
	r.place, r.document = a.Place, true
	a.Key = r.key
	r.action = a
	if _, _, err := o.ledger.begin(ctx, []row{r}); err != nil {
		return chat.Receipt{}, err
	}
	return o.deliver(ctx, p, r)
}
