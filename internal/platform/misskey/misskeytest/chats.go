package misskeytest

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

func (in *Instance) createChat(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	text := ""
	if p.Text != nil {
		text = *p.Text
	}
	switch n := utf8.RuneCountInString(text); {
	case n > MaxChat:
		in.fault("chat/messages/create-to-user: a text of %d characters", n)
		return nil, no("INVALID_PARAM")
	case n == 0 && p.FileID == nil:
		return nil, no("CONTENT_REQUIRED")
	case in.users[p.ToUserID] == nil:
		return nil, no("NO_SUCH_USER")
	case p.ToUserID == in.me.ID:
		return nil, no("RECIPIENT_IS_YOURSELF")
	case p.FileID != nil && in.files[*p.FileID] == nil:
		return nil, no("NO_SUCH_FILE")
	}
	c := &ChatMessage{ID: in.id(), CreatedAt: in.now(), FromUserID: in.me.ID, ToUserID: p.ToUserID, Text: p.Text, FileID: p.FileID}
	if p.FileID != nil {
		c.File = in.files[*p.FileID]
	}
	in.chats = append(in.chats, c)
	in.acted(Act{Deed: Writes, Chat: *c})
	in.change()
	return mustJSON(lite(c)), nil
}

// chat returns a message of the bot's chats.
func (in *Instance) chat(id string) (*ChatMessage, error) {
	for _, c := range in.chats {
		if c.ID == id {
			return c, nil
		}
	}
	return nil, no("NO_SUCH_MESSAGE")
}

func (in *Instance) deleteChat(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	c, err := in.chat(p.MessageID)
	if err != nil || c.FromUserID != in.me.ID {
		return nil, no("NO_SUCH_MESSAGE")
	}
	in.acted(Act{Deed: Deletes, Chat: *c})
	in.chats = slices.DeleteFunc(in.chats, func(other *ChatMessage) bool { return other == c })
	in.change()
	return nil, nil
}

func (in *Instance) reactToChat(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	c, err := in.chat(p.MessageID)
	switch {
	case err != nil:
		return nil, err
	case c.FromUserID == in.me.ID:
		return nil, no("CANNOT_REACT_TO_OWN_MESSAGE")
	}
	c.Reactions = append(c.Reactions, Reaction{p.Reaction, in.me})
	in.acted(Act{Deed: Reacts, Chat: *c, Emoji: p.Reaction})
	in.change()
	return nil, nil
}

func (in *Instance) showChat(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	c, err := in.chat(p.MessageID)
	if err != nil {
		return nil, err
	}
	return mustJSON(in.packChat(c)), nil
}

// listChat tells a chat, newest first, and takes it as read.
func (in *Instance) listChat(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	if in.users[p.UserID] == nil {
		return nil, no("NO_SUCH_USER")
	}
	found := []ChatMessage{}
	for _, c := range slices.Backward(in.chats) {
		if (c.FromUserID == p.UserID || c.ToUserID == p.UserID) && (p.UntilID == "" || c.ID < p.UntilID) &&
			(p.SinceID == "" || c.ID > p.SinceID) && len(found) < p.limit() {
			found = append(found, lite(c))
		}
	}
	delete(in.unread, p.UserID)
	return mustJSON(found), nil
}

// listChats tells the newest message of each chat.
func (in *Instance) listChats(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	found, seen := []ChatMessage{}, map[string]bool{}
	for _, c := range slices.Backward(in.chats) {
		with := c.FromUserID
		if with == in.me.ID {
			with = c.ToUserID
		}
		if !p.Room && !seen[with] && len(found) < p.limit() {
			seen[with] = true
			found = append(found, in.packChat(c))
		}
	}
	return mustJSON(found), nil
}
