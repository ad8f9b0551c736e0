package misskey

import (
	"context"
	"errors"
	"slices"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey/api"
)

var errNotYet = errors.New("the platform misskey was not connected yet")

// Parameters of the calls about chats.
type (
	userChat struct {
		UserID  string `json:"userId"`
		Limit   int    `json:"limit"`
		UntilID string `json:"untilId,omitempty"`
	}
	messageID struct {
		MessageID string `json:"messageId"`
	}
)

// moreThan is how many newer messages are fetched with those before one.
const moreThan = 10

// chatWith returns messages of a chat, newest first, as the instance tells them.
func (m *Misskey) chatWith(ctx context.Context, person string, limit int, untilID string) ([]chatMessage, error) {
	return api.Call[[]chatMessage](ctx, m.api, "chat/messages/user-timeline", userChat{person, limit, untilID})
}

// chatBefore tells what was said in a chat. Reading a chat marks it as read, and an instance announces no message that
// was read already: whatever is newer than the given message is therefore handed in, for it may never come otherwise.
func (m *Misskey) chatBefore(ctx context.Context, person string, before chat.MessageID, limit int) ([]chat.Message, error) {
	found, err := m.chatWith(ctx, person, min(limit+moreThan, pageSize), "")
	if err != nil {
		return nil, err
	}
	if before == "" {
		return m.told(found), nil
	}
	at := slices.IndexFunc(found, func(c chatMessage) bool { return c.ID == string(before) })
	if at >= 0 && len(found)-at-1 >= limit || at >= 0 && len(found) < min(limit+moreThan, pageSize) {
		m.unannounced(person, found[:at])
		return m.told(found[at+1:]), nil
	}
	if at >= 0 {
		m.unannounced(person, found[:at])
	}
	if found, err = m.chatWith(ctx, person, limit, string(before)); err != nil {
		return nil, err
	}
	return m.told(found), nil
}

// unannounced hands in messages of a person that stand in a chat, newest first. Those that were heard are known to
// whoever hears. There is always room for more than one person writes in the moment that a chat is read.
func (m *Misskey) unannounced(person string, found []chatMessage) {
	for _, c := range slices.Backward(found) {
		if c.From != person {
			continue
		}
		select {
		case m.late <- c:
		default:
			m.log.Warn("a message that was read before it was announced is left to the next look", chat.KeyPlatform, Name)
		}
	}
}

// told makes history of chat messages, oldest first.
func (m *Misskey) told(found []chatMessage) (said []chat.Message) {
	slices.SortStableFunc(found, func(a, b chatMessage) int {
		return compare(a.CreatedAt.V.Time, a.ID, b.CreatedAt.V.Time, b.ID)
	})
	me := m.self()
	for _, c := range found {
		if !api.IsID(c.ID) || !api.IsID(c.From) {
			continue
		}
		author, _ := m.people.of(c.From)
		from := author.person(me)
		text := c.Text.V
		if !from.Us {
			text, _ = me.unmention(text)
		}
		from.Name = shown(from)
		said = append(said, chat.Message{ID: chat.MessageID(c.ID), From: from, Text: text, At: c.CreatedAt.V.UTC(),
			Attachments: attachments(c.File.V), Addressed: !from.Us,
			Reacted: !from.Us && len(c.Reactions.V) > 0}) // nobody reacts to their own: in a chat of two it was us
	}
	return said
}

// whole returns a chat message with its author, which lists leave out.
func (m *Misskey) whole(ctx context.Context, c chatMessage) (chatMessage, error) {
	if c.FromUser.V.Username != "" {
		m.people.meet(c.FromUser.V)
		return c, nil
	}
	if author, ok := m.people.of(c.From); ok {
		c.FromUser.V = author
		return c, nil
	}
	full, err := api.Call[chatMessage](ctx, m.api, "chat/messages/show", messageID{c.ID})
	if err != nil {
		return c, err
	}
	m.people.meet(full.FromUser.V)
	return full, nil
}
