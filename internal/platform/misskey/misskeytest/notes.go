package misskeytest

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxNote and MaxChat are the longest texts, in code points.
const (
	MaxNote = 3000
	MaxChat = 2000
)

// params are the parameters of all calls; each uses some.
type params struct {
	NoteID      string   `json:"noteId"`
	Reaction    string   `json:"reaction"`
	Text        *string  `json:"text"`
	Visibility  string   `json:"visibility"`
	Visible     []string `json:"visibleUserIds"`
	CW          *string  `json:"cw"`
	LocalOnly   bool     `json:"localOnly"`
	ReplyID     *string  `json:"replyId"`
	FileIDs     []string `json:"fileIds"`
	Quiet       bool     `json:"noExtractMentions"`
	Limit       *int     `json:"limit"`
	SinceID     string   `json:"sinceId"`
	UntilID     string   `json:"untilId"`
	UserID      string   `json:"userId"`
	Query       string   `json:"query"`
	WithReplies bool     `json:"withReplies"`
	MessageID   string   `json:"messageId"`
	ToUserID    string   `json:"toUserId"`
	FileID      *string  `json:"fileId"`
	Room        bool     `json:"room"`
}

func read(raw json.RawMessage) (p params, err error) {
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, err
	}
	if p.Limit != nil && (*p.Limit < 1 || *p.Limit > 100) {
		return p, no("INVALID_PARAM")
	}
	return p, nil
}

// limit is the limit of a list.
func (p params) limit() int {
	if p.Limit == nil {
		return 10
	}
	return *p.Limit
}

func (in *Instance) createNote(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	d := Draft{Visibility: p.Visibility, Visible: p.Visible, LocalOnly: p.LocalOnly, Files: p.FileIDs, Quiet: p.Quiet}
	if p.Text != nil {
		d.Text = *p.Text
	}
	if p.CW != nil {
		d.CW = *p.CW
	}
	switch n := utf8.RuneCountInString(d.Text); {
	case n > in.longest || p.Text != nil && n == 0:
		in.fault("notes/create: a text of %d characters", n)
		return nil, no("INVALID_PARAM")
	case strings.TrimSpace(d.Text) == "" && len(d.Files) == 0:
		return nil, no("CONTENT_REQUIRED")
	}
	if err := in.ownFiles(p); err != nil {
		return nil, err
	}
	if p.ReplyID != nil {
		parent := in.note(p.ReplyID)
		switch {
		case parent == nil || !in.sees(in.me, parent):
			return nil, no("NO_SUCH_REPLY_TARGET")
		case parent.Visibility == "specified" && d.Visibility != "specified":
			return nil, no("CANNOT_REPLY_TO_SPECIFIED_VISIBILITY_NOTE_WITH_EXTENDED_VISIBILITY")
		}
		d.ReplyTo = *p.ReplyID
	}
	n := in.add(in.me, d)
	in.acted(Act{Deed: Writes, Note: *n})
	return mustJSON(map[string]Note{"createdNote": in.pack(n, in.me)}), nil
}

// ownFiles checks the files of a note.
func (in *Instance) ownFiles(p params) error {
	if p.FileIDs != nil && (len(p.FileIDs) < 1 || len(p.FileIDs) > 16) {
		in.fault("notes/create: %d files", len(p.FileIDs))
		return no("INVALID_PARAM")
	}
	for _, id := range p.FileIDs {
		if in.files[id] == nil {
			return no("NO_SUCH_FILE")
		}
	}
	return nil
}

// visible returns a note that the bot may see.
func (in *Instance) visible(id string) (*Note, error) {
	n := in.note(&id)
	if n == nil || !in.sees(in.me, n) {
		return nil, no("NO_SUCH_NOTE")
	}
	return n, nil
}

func (in *Instance) showNote(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	n, err := in.visible(p.NoteID)
	if err != nil {
		return nil, err
	}
	return mustJSON(in.pack(n, in.me)), nil
}

func (in *Instance) deleteNote(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	n, err := in.visible(p.NoteID)
	if err != nil {
		return nil, err
	}
	if n.UserID != in.me.ID {
		return nil, no("ACCESS_DENIED")
	}
	in.acted(Act{Deed: Deletes, Note: *n})
	in.forget(n.ID)
	return nil, nil
}

// Delete lets somebody delete a note.
func (in *Instance) Delete(id string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.forget(id)
}

func (in *Instance) forget(id string) {
	n := in.byID[id]
	if n == nil {
		return
	}
	if n.ReplyID != nil {
		in.replies[*n.ReplyID]--
	}
	delete(in.byID, id)
	in.notes = slices.DeleteFunc(in.notes, func(other *Note) bool { return other == n })
	in.tellDeleted(id)
	in.change()
}

func (in *Instance) reactToNote(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	n, err := in.visible(p.NoteID)
	if err != nil {
		return nil, err
	}
	if n.MyReaction != nil && *n.MyReaction == p.Reaction {
		return nil, no("ALREADY_REACTED")
	}
	n.MyReaction = &p.Reaction
	in.acted(Act{Deed: Reacts, Note: *n, Emoji: p.Reaction})
	in.change()
	return nil, nil
}

// list is the notes that match and that the bot may see: newest first, or oldest first from a given one on.
func (in *Instance) list(p params, match func(*Note) bool) json.RawMessage {
	found := []Note{}
	forward := p.SinceID != "" && p.UntilID == ""
	for i := range in.notes {
		n := in.notes[len(in.notes)-1-i]
		if forward {
			n = in.notes[i]
		}
		if len(found) == p.limit() {
			break
		}
		if in.sees(in.me, n) && match(n) && (p.UntilID == "" || n.ID < p.UntilID) && (p.SinceID == "" || n.ID > p.SinceID) {
			found = append(found, in.pack(n, in.me))
		}
	}
	return mustJSON(found)
}

func (in *Instance) listReplies(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	return in.list(p, func(n *Note) bool { return n.ReplyID != nil && *n.ReplyID == p.NoteID }), nil
}

func (in *Instance) listAncestors(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	n, err := in.visible(p.NoteID)
	if err != nil {
		return nil, err
	}
	found := []Note{}
	for n = in.note(n.ReplyID); n != nil && len(found) < p.limit() && in.sees(in.me, n); n = in.note(n.ReplyID) {
		found = append(found, in.pack(n, in.me))
	}
	return mustJSON(found), nil
}

func (in *Instance) listMentions(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	return in.list(p, func(n *Note) bool {
		return slices.Contains(n.Mentions, in.me.ID) && (p.Visibility == "" || n.Visibility == p.Visibility)
	}), nil
}

func (in *Instance) searchNotes(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	return in.list(p, func(n *Note) bool {
		return n.Text != nil && strings.Contains(strings.ToLower(*n.Text), strings.ToLower(p.Query))
	}), nil
}

func (in *Instance) listNotesOf(raw json.RawMessage) (json.RawMessage, error) {
	p, err := read(raw)
	if err != nil {
		return nil, err
	}
	if in.users[p.UserID] == nil {
		return nil, no("NO_SUCH_USER")
	}
	return in.list(p, func(n *Note) bool { return n.UserID == p.UserID && (n.ReplyID == nil || p.WithReplies) }), nil
}
