package misskey

import (
	"context"
	"slices"

	"familiar/internal/chat"
)

// Parameters of the calls about notes.
type (
	noteID struct {
		NoteID string `json:"noteId"`
	}
	around struct {
		NoteID string `json:"noteId"`
		Limit  int    `json:"limit"`
	}
	userNotes struct {
		UserID      string `json:"userId"`
		Limit       int    `json:"limit"`
		UntilID     string `json:"untilId,omitempty"`
		WithReplies bool   `json:"withReplies"`
		WithRenotes bool   `json:"withRenotes"`
	}
	mentions struct {
		Limit      int    `json:"limit"`
		UntilID    string `json:"untilId,omitempty"`
		Visibility string `json:"visibility"`
	}
)

// thread tells what stands around a note: what it answers, itself, and what answers it. Only the note must be there.
func (m *Misskey) thread(ctx context.Context, id string, before chat.MessageID, limit int) ([]chat.Message, error) {
	root, err := m.show(ctx, id)
	if is(err, "NO_SUCH_NOTE") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	notes := append(m.ancestors(ctx, root, limit), root)
	if string(before) != id { // everything that answers a note comes after it
		notes = append(notes, m.replies(ctx, id, limit)...)
	}
	notes = slices.DeleteFunc(notes, func(n note) bool { return n.Visibility == specified })
	said, _ := until(m.messages(notes), before)
	return said, nil
}

// ancestors are the notes that a note answers. Where the instance does not tell them at once, each is asked for.
func (m *Misskey) ancestors(ctx context.Context, n note, limit int) []note {
	if n.ReplyID.V == "" {
		return nil
	}
	if all, err := call[[]note](ctx, m.api, "notes/conversation", around{n.ID, limit}); err == nil {
		return all
	}
	var all []note
	for len(all) < limit && anID.MatchString(n.ReplyID.V) {
		parent, err := m.show(ctx, n.ReplyID.V)
		if err != nil {
			break
		}
		all = append(all, parent)
		n = parent
	}
	return all
}

// replies are the notes that answer a note, as far as they can be had.
func (m *Misskey) replies(ctx context.Context, id string, limit int) []note {
	for _, path := range []string{"notes/children", "notes/replies"} {
		all, err := call[[]note](ctx, m.api, path, around{id, limit})
		if err == nil {
			return all
		}
		m.log.Warn("the replies to a note could not be fetched", "path", path, chat.KeyErr, err)
	}
	return nil
}

// directNotes tells what one person and we wrote to each other in notes that nobody else can see.
func (m *Misskey) directNotes(ctx context.Context, person string, before chat.MessageID, limit int) ([]chat.Message, error) {
	theirs, err := call[[]note](ctx, m.api, "notes/mentions", mentions{pageSize, string(before), specified})
	if err != nil {
		return nil, err
	}
	us := m.self().ID
	ours, err := call[[]note](ctx, m.api, "users/notes", userNotes{us, pageSize, string(before), true, false})
	if err != nil {
		return nil, err
	}
	between := func(n note) bool {
		return n.Visibility == specified &&
			(n.UserID == person || n.UserID == us && slices.Contains(n.Visible.V, person))
	}
	notes := slices.DeleteFunc(slices.Concat(theirs, ours), func(n note) bool { return !between(n) })
	said, _ := until(m.messages(notes), before)
	return said[max(0, len(said)-limit):], nil
}

// ownNotes tells what we wrote on our own timeline.
func (m *Misskey) ownNotes(ctx context.Context, before chat.MessageID, limit int) ([]chat.Message, error) {
	notes, err := call[[]note](ctx, m.api, "users/notes", userNotes{m.self().ID, limit, string(before), false, false})
	if err != nil {
		return nil, err
	}
	notes = slices.DeleteFunc(notes, func(n note) bool { return n.Visibility == specified })
	said, _ := until(m.messages(notes), before)
	return said, nil
}
