package misskey

import (
	"fmt"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey/api"
)

// noteEvent translates a note of which the instance says that it concerns us.
func (m *Misskey) noteEvent(n note) (chat.Event, error) {
	if !api.IsID(n.ID) || !api.IsID(n.UserID) {
		return chat.Event{}, fmt.Errorf("a note without id or author")
	}
	me, place := m.self(), placeOf(n)
	text, mentioned := me.words(n)
	addressed := mentioned && m.cfg.RespondToMention
	if place.Kind == chat.Direct {
		addressed = m.cfg.AllowDM
	}
	author := n.User.V
	author.ID = n.UserID
	return chat.Event{
		ID: chat.NewEventID(me.key(), place, chat.KindSaid, n.ID, ""), At: n.CreatedAt.V.UTC(), Place: place,
		From: author.person(me), Message: chat.MessageID(n.ID), Addressed: addressed,
		Body: chat.Said{Text: text, ReplyTo: chat.MessageID(n.ReplyID.V), Attachments: attachments(n.files()...)},
	}, nil
}

// chatEvent translates a message of a chat with one person. Rooms of several people are not ours.
func (m *Misskey) chatEvent(c chatMessage) (chat.Event, error) {
	me := m.self()
	switch {
	case !api.IsID(c.ID) || !api.IsID(c.From):
		return chat.Event{}, fmt.Errorf("a chat message without id or author")
	case c.Room.V != "":
		return chat.Event{}, fmt.Errorf("a chat message of a room of several people: these are not supported")
	}
	place := directPlace(chatPlace, c.From)
	author := c.FromUser.V
	author.ID = c.From
	text, _ := me.unmention(c.Text.V)
	return chat.Event{
		ID: chat.NewEventID(me.key(), place, chat.KindSaid, c.ID, ""), At: c.CreatedAt.V.UTC(), Place: place,
		From: author.person(me), Message: chat.MessageID(c.ID), Addressed: m.cfg.AllowDM,
		Body: chat.Said{Text: text, Attachments: attachments(c.File.V)},
	}, nil
}

// key names the account of ours that heard something.
func (a account) key() string { return a.ID + "@" + a.Host }
