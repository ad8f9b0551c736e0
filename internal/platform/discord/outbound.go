package discord

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// nonceTime is how long Discord surely knows a nonce; it says «a few minutes».
const nonceTime = 2 * time.Minute

// Do makes one call of the REST API.
func (d *Discord) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	where := a.Where()
	if where.Platform != Name {
		return chat.Receipt{}, fmt.Errorf("%s is not Discord", where.Platform)
	}
	if err := ids(where.ID); err != nil {
		return chat.Receipt{}, err
	}
	id, err := d.do(ctx, where.ID, a)
	if err != nil {
		return chat.Receipt{}, err
	}
	return chat.Receipt{Message: id, At: time.Now()}, nil
}

func (d *Discord) do(ctx context.Context, channel string, a chat.Action) (chat.MessageID, error) {
	switch a := a.(type) {
	case chat.Say:
		return d.create(ctx, channel, newMessage(a.Text, a.ReplyTo, a.Key), nil)
	case chat.SendFile:
		return d.create(ctx, channel, newMessage(a.Text, a.ReplyTo, a.Key), a.Files)
	case chat.Edit:
		return a.Message, touch(ctx, d, rest.UpdateMessage, &editMessage{Content: a.Text, Mentions: nobody}, spot{channel, a.Message, ""})
	case chat.Delete:
		return a.Message, touch[nothing](ctx, d, rest.DeleteMessage, nil, spot{channel, a.Message, ""})
	case chat.React:
		return a.Message, touch[nothing](ctx, d, rest.AddReaction, nil, spot{channel, a.Message, d.reaction(a.Emoji)})
	case chat.Typing:
		if !d.cfg.TypingIndicator.Enabled {
			return "", platform.ErrUnsupported
		}
		_, err := call[nothing, nothing](ctx, d, at(rest.SendTyping, nil, channel), nil)
		return "", repeatable(err)
	}
	return "", platform.ErrUnsupported
}

// spot is a message, and one of its reactions.
type spot struct {
	channel  string
	message  chat.MessageID
	reaction string
}

// touch does something to a message that is there. Done twice it is as if it was done once.
func touch[In any](ctx context.Context, d *Discord, e *rest.Endpoint, in *In, s spot) error {
	if err := ids(string(s.message)); err != nil {
		return err
	}
	_, err := call[In, nothing](ctx, d, at(e, nil, s.channel, string(s.message), s.reaction), in)
	return repeatable(err)
}

// repeatable makes an error of which nobody knows whether the call was taken one that may be tried again.
func repeatable(err error) error {
	var unsure platform.Uncertain
	if errors.As(err, &unsure) {
		return platform.Temporary{Err: unsure.Err}
	}
	return err
}

// nobody is whose bell a message of ours rings.
var nobody = mentionless{Parse: []string{}}

func newMessage(text string, replyTo chat.MessageID, key string) createMessage {
	m := createMessage{Content: text, Mentions: nobody}
	if key != "" {
		m.Nonce, m.Enforce = nonce(key), true
	}
	if isID(string(replyTo)) { // a message that is gone by now is answered all the same
		m.Reference = &reference{Message: string(replyTo)}
	}
	return m
}

// nonce is a key as Discord takes it: 25 characters at most.
func nonce(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// create posts one message. Where Discord does not let it be an answer, it stands alone: better so than not at all.
func (d *Discord) create(ctx context.Context, channel string, m createMessage, files []chat.File) (chat.MessageID, error) {
	id, err := d.post(ctx, channel, m, files)
	var no refusal
	if m.Reference != nil && errors.As(err, &no) && no.ofReference() {
		m.Reference = nil
		return d.post(ctx, channel, m, files)
	}
	return id, err
}

func (d *Discord) post(ctx context.Context, channel string, m createMessage, files []chat.File) (chat.MessageID, error) {
	where := at(rest.CreateMessage, nil, channel)
	if len(files) == 0 {
		made, err := call[createMessage, created](ctx, d, where, &m)
		return chat.MessageID(made.ID), err
	}
	body, err := enclose(m, files)
	if err != nil {
		return "", err
	}
	made, err := call[discord.MultipartBuffer, created](ctx, d, where, body)
	return chat.MessageID(made.ID), err
}

// mostFiles is how many files one message takes.
const mostFiles = 10

// enclose puts files beside a message.
func enclose(m createMessage, files []chat.File) (_ *discord.MultipartBuffer, err error) {
	if len(files) > mostFiles {
		return nil, fmt.Errorf("one message takes %d files, not %d", mostFiles, len(files))
	}
	var parts []*discord.File
	for _, file := range files {
		f, err := os.Open(file.Path)
		if err != nil {
			return nil, fmt.Errorf("open a file to send: %w", err)
		}
		defer f.Close() //nolint:errcheck // it is only read
		if stat, err := f.Stat(); err != nil || !stat.Mode().IsRegular() || stat.Size() > maxFile {
			return nil, fmt.Errorf("a file to send is none, or larger than %d MiB", maxFile>>20)
		}
		parts = append(parts, discord.NewFile(fileName(file), "", f))
	}
	return discord.PayloadWithFiles(m, parts...)
}

// fileName is a name that cannot break out of the line in which it stands.
func fileName(f chat.File) string {
	name := f.Name
	if name == "" {
		name = filepath.Base(f.Path)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`"\/`, r) {
			return '_'
		}
		return r
	}, name)
}

// customEmoji is how a custom emoji is written in a text.
var customEmoji = regexp.MustCompile(`^<a?:(\w+:\d+)>$`)

// reaction is an emoji as the API names it, escaped: a custom one is name:id, however it was written.
func (d *Discord) reaction(emoji string) string {
	emoji = strings.TrimSpace(emoji)
	if found := customEmoji.FindStringSubmatch(emoji); found != nil {
		emoji = found[1]
	} else if name, ok := strings.CutPrefix(emoji, ":"); ok {
		if id := d.emojiID(strings.TrimSuffix(name, ":")); id != "" {
			emoji = strings.TrimSuffix(name, ":") + ":" + id
		}
	}
	return url.PathEscape(emoji)
}

// ids refuses what is no id of Discord, "" excepted.
func ids(words ...string) error {
	for _, w := range words {
		if w != "" && !isID(w) {
			return fmt.Errorf("%q is no id of Discord", w)
		}
	}
	return nil
}
