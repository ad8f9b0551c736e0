package misskey

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/api"
)

// Do does one thing on the instance. A time-out of something that would be there twice if it were done twice is
// Uncertain; a token that was revoked ends the run as well.
func (m *Misskey) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return chat.Receipt{}, err
	}
	kind, ref, err := here(a.Where())
	if err != nil {
		return chat.Receipt{}, err
	}
	var receipt chat.Receipt
	switch a := a.(type) {
	case chat.Say:
		receipt, err = m.say(ctx, place{kind, ref, a.Place.Kind}, a)
	case chat.Edit:
		receipt, err = m.edit(ctx, place{kind, ref, a.Place.Kind}, a)
	case chat.Delete:
		receipt, err = m.remove(ctx, kind, a)
	case chat.React:
		receipt, err = m.react(ctx, kind, a)
	case chat.SendFile:
		receipt, err = m.sendFiles(ctx, place{kind, ref, a.Place.Kind}, a)
	default:
		return chat.Receipt{}, platform.ErrUnsupported
	}
	if api.Revoked(err) {
		m.abort(err)
	}
	return receipt, err
}

// place is a place, taken apart.
type place struct {
	kind placeKind
	ref  string
	open chat.PlaceKind
}

// post is the parameters of a new note. Quiet keeps the names in its text from calling anybody, or a note that few may
// read would be sent to the instances of all whom it names; whoever is answered or is to see it is told all the same.
type post struct {
	Text       string   `json:"text,omitempty"`
	CW         string   `json:"cw,omitempty"`
	ReplyID    string   `json:"replyId,omitempty"`
	Visibility string   `json:"visibility,omitempty"`
	Visible    []string `json:"visibleUserIds,omitempty"`
	FileIDs    []string `json:"fileIds,omitempty"`
	Quiet      bool     `json:"noExtractMentions"`
}

// letter is the parameters of a new chat message.
type letter struct {
	ToUserID string `json:"toUserId"`
	Text     string `json:"text,omitempty"`
	FileID   string `json:"fileId,omitempty"`
}

func (m *Misskey) say(ctx context.Context, at place, a chat.Say) (chat.Receipt, error) {
	if at.kind == chatPlace {
		return m.write(ctx, letter{ToUserID: at.ref, Text: a.Text})
	}
	p, err := m.address(ctx, at, a.ReplyTo)
	if err != nil {
		return chat.Receipt{}, err
	}
	p.Text = a.Text
	return m.publish(ctx, p)
}

// address says who may see a note in a place, and what it answers. The answer to a note is seen by whoever sees the
// note; in a direct place it is seen by the one person, whatever the note says. Where what is answered is gone, the note
// of the place is answered instead.
func (m *Misskey) address(ctx context.Context, at place, answers chat.MessageID) (post, error) {
	p := post{ReplyID: string(answers)}
	switch {
	case at.kind == timeline:
		return post{}, nil
	case at.kind == dmPlace:
		p.Visibility, p.Visible = specified, []string{at.ref}
		return p, nil
	}
	model := cmp.Or(string(answers), at.ref) // a note that answers none is seen by those whose thread it is
	n, err := m.show(ctx, model)
	if api.Is(err, noNote) && model != at.ref {
		p.ReplyID = at.ref
		n, err = m.show(ctx, at.ref)
	}
	switch {
	case api.Is(err, noNote) && answers == "":
		p.Visibility = "home" // nobody knows whether it was public
		if at.open != chat.Broadcast {
			p.Visibility = "followers"
		}
		return p, nil
	case err != nil:
		return post{}, fmt.Errorf("read the note that is answered: %w", api.Judge(err, false))
	}
	return p.seenLike(n), nil
}

// noNote is the instance's word for a note that is gone, or that we may not see.
const noNote = "NO_SUCH_NOTE"

// show reads a note.
func (m *Misskey) show(ctx context.Context, id string) (note, error) {
	n, err := api.Call[note](ctx, m.api, "notes/show", noteID{id})
	if err == nil && (n.ID != id || !api.IsID(n.UserID)) {
		err = api.Misread("notes/show", "the answer is not the note that was asked for")
	}
	return n, err
}

// seenLike lets those see a note who see another one; where it is not said who they are, its author alone.
func (p post) seenLike(n note) post {
	switch n.Visibility {
	case "public", "home", "followers":
		p.Visibility = n.Visibility
	default:
		p.Visibility, p.Visible = specified, []string{n.UserID}
	}
	return p
}

// publish writes a note. One that few may read is written without what it answers where that is gone: it is part of a
// talk. In public it would stand there for itself.
func (m *Misskey) publish(ctx context.Context, p post) (chat.Receipt, error) {
	receipt, err := m.create(ctx, p)
	if p.Visibility == specified && p.ReplyID != "" && api.Is(err, "NO_SUCH_REPLY_TARGET", "CANNOT_REPLY_TO_AN_INVISIBLE_NOTE") {
		p.ReplyID = ""
		receipt, err = m.create(ctx, p)
	}
	return receipt, err
}

func (m *Misskey) create(ctx context.Context, p post) (chat.Receipt, error) {
	p.Quiet = true
	made, err := api.Call[struct {
		Note note `json:"createdNote"`
	}](ctx, m.api, "notes/create", p)
	if err != nil {
		return chat.Receipt{}, fmt.Errorf("write a note: %w", api.Judge(err, true))
	}
	return receiptOf("notes/create", made.Note.ID, made.Note.CreatedAt.V.Time)
}

// write writes a chat message.
func (m *Misskey) write(ctx context.Context, l letter) (chat.Receipt, error) {
	made, err := api.Call[chatMessage](ctx, m.api, "chat/messages/create-to-user", l)
	if err != nil {
		return chat.Receipt{}, fmt.Errorf("write a chat message: %w", api.Judge(err, true))
	}
	return receiptOf("chat/messages/create-to-user", made.ID, made.CreatedAt.V.Time)
}

// receiptOf makes a receipt of what was made. An instance that says yes and names nothing may have made it.
func receiptOf(path, id string, at time.Time) (chat.Receipt, error) {
	if !api.IsID(id) {
		return chat.Receipt{}, platform.Uncertain{Err: fmt.Errorf("%s: the answer names nothing that was made", path)}
	}
	if at.IsZero() {
		at = time.Now()
	}
	return chat.Receipt{Message: chat.MessageID(id), At: at.UTC()}, nil
}

func (m *Misskey) remove(ctx context.Context, kind placeKind, a chat.Delete) (chat.Receipt, error) {
	if err := m.unsay(ctx, kind, a.Message); err != nil {
		return chat.Receipt{}, err
	}
	return chat.Receipt{Message: a.Message, At: time.Now().UTC()}, nil
}

// unsay deletes a message of ours.
func (m *Misskey) unsay(ctx context.Context, kind placeKind, id chat.MessageID) (err error) {
	if kind == chatPlace {
		_, err = api.Call[api.Nothing](ctx, m.api, "chat/messages/delete", messageID{string(id)})
	} else {
		_, err = api.Call[api.Nothing](ctx, m.api, "notes/delete", noteID{string(id)})
	}
	if err != nil {
		return fmt.Errorf("delete a message: %w", api.Judge(err, false))
	}
	return nil
}

// Parameters of reactions.
type (
	noteReaction struct {
		NoteID   string `json:"noteId"`
		Reaction string `json:"reaction"`
	}
	chatReaction struct {
		MessageID string `json:"messageId"`
		Reaction  string `json:"reaction"`
	}
)

// bareName is a custom emoji without its colons.
var bareName = regexp.MustCompile(`^[A-Za-z0-9_+-]+$`)

func (m *Misskey) react(ctx context.Context, kind placeKind, a chat.React) (chat.Receipt, error) {
	emoji := a.Emoji
	if bareName.MatchString(emoji) {
		emoji = ":" + emoji + ":"
	}
	var err error
	if kind == chatPlace {
		_, err = api.Call[api.Nothing](ctx, m.api, "chat/messages/react", chatReaction{string(a.Message), emoji})
	} else {
		_, err = api.Call[api.Nothing](ctx, m.api, "notes/reactions/create", noteReaction{string(a.Message), emoji})
	}
	if err != nil && !api.Is(err, "ALREADY_REACTED") {
		return chat.Receipt{}, fmt.Errorf("react to a message: %w", api.Judge(err, false))
	}
	return chat.Receipt{Message: a.Message, At: time.Now().UTC()}, nil
}
