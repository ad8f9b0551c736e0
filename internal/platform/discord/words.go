package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/disgoorg/disgo/rest"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// words are the text without our own mention, and in its place among it what else was said: stickers, what was forwarded,
// a poll.
func (d *Discord) words(m message) string {
	text := m.Content
	if us := d.account(); us != "" {
		text = strings.NewReplacer("<@"+us+">", "", "<@!"+us+">", "").Replace(text)
	}
	all := append([]string{strings.TrimSpace(text)}, d.stickers(m.Stickers)...)
	for _, s := range m.Snapshots {
		whole := append([]string{strings.TrimSpace(s.Message.Content)}, d.stickers(s.Message.Stickers)...)
		all = append(all, "[Forwarded: "+platform.Words(whole...)+"]")
	}
	if m.Poll.Question.Text != "" {
		all = append(all, m.Poll.words())
	}
	if m.unreadable() {
		all = append(all, platform.Unreadable)
	}
	return platform.Words(all...)
}

func (p poll) words() string {
	parts := []string{p.Question.Text}
	for _, a := range p.Answers {
		parts = append(parts, a.Media.Text)
	}
	return platform.Poll(parts...)
}

// files are those of a message, and of what it forwards.
func (m message) files() []attachment {
	all := slices.Clone(m.Attachments)
	for _, s := range m.Snapshots {
		all = append(all, s.Message.Attachments...)
	}
	return all
}

// unreadable says that a message is made of nothing that is read here, such as components.
func (m message) unreadable() bool {
	return m.Content == "" && len(m.Stickers)+len(m.Attachments)+len(m.Snapshots) == 0 && m.Poll.Question.Text == ""
}

// stickers are stickers in words.
func (d *Discord) stickers(all []sticker) (words []string) {
	for _, s := range all {
		word := "[Sticker: " + s.Name + "]"
		if tags := d.tagsOf(s); tags != "" {
			word = fmt.Sprintf("[Sticker: %s (%s)]", s.Name, tags)
		}
		words = append(words, word)
	}
	return words
}

// How stickers are looked up: a message waits no longer for the tags of one.
const (
	stickerTime  = 2 * time.Second
	mostStickers = 1000
)

// tagsOf are the tags of a sticker, as far as they are known.
func (d *Discord) tagsOf(s sticker) (tags string) {
	if tags = s.Tags; tags == "" {
		d.known.learn(func() { tags = d.known.tags[s.ID] })
	}
	return tags
}

// lookUp learns the tags of stickers: a message names only the sticker.
func (d *Discord) lookUp(ctx context.Context, stickers []sticker) {
	ctx, done := context.WithTimeout(ctx, stickerTime)
	defer done()
	for _, s := range stickers {
		var have bool
		d.known.learn(func() { _, have = d.known.tags[s.ID] })
		if have || s.Tags != "" || !isID(s.ID) {
			continue
		}
		found, err := get[sticker](ctx, d, at(rest.GetSticker, nil, s.ID))
		if err != nil {
			d.log.Debug("the tags of a sticker are not known", chat.KeyErr, err)
			continue
		}
		d.known.learn(func() {
			if len(d.known.tags) >= mostStickers {
				clear(d.known.tags)
			}
			d.known.tags[s.ID] = found.Tags
		})
	}
}
