package misskey

import (
	"cmp"
	"context"
	"slices"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey/api"
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
)

// thread tells what stands around a note: what it answers, itself, and what answers it. Only the note must be there.
func (m *Misskey) thread(ctx context.Context, id string, before chat.MessageID, limit int) ([]chat.Message, error) {
	root, err := m.show(ctx, id)
	if api.Is(err, noNote) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	notes := append(m.ancestors(ctx, root, limit), root)
	if string(before) != id { // everything that answers a note comes after it
		notes = append(notes, m.replies(ctx, id, limit)...)
	}
	open := max(root.readers(), followersOnly)
	notes = slices.DeleteFunc(notes, func(n note) bool { return n.readers() < open })
	said, _ := until(m.messages(notes), before)
	return said, nil
}

// How many can read a note: those whom it names, followers, everybody.
const (
	namedOnly = iota
	followersOnly
	everybody
)

func (c content) readers() int {
	switch c.Visibility {
	case "public", "home":
		return everybody
	case "followers":
		return followersOnly
	}
	return namedOnly
}

// ancestors are the notes that a note answers. Where the instance does not tell them at once, each is asked for.
func (m *Misskey) ancestors(ctx context.Context, n note, limit int) []note {
	if n.ReplyID.V == "" {
		return nil
	}
	if all, err := api.Call[[]note](ctx, m.api, "notes/conversation", around{n.ID, limit}); err == nil {
		return all
	}
	var all []note
	for len(all) < limit && api.IsID(n.ReplyID.V) {
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
		all, err := api.Call[[]note](ctx, m.api, path, around{id, limit})
		if err == nil {
			return all
		}
		m.log.Warn("the replies to a note could not be fetched", "path", path, chat.KeyErr, err)
	}
	return nil
}

// historyPages bounds how far history is looked for among other notes.
const historyPages = 5

// directNotes tells what one person and we wrote to each other in notes that nobody else can see.
func (m *Misskey) directNotes(ctx context.Context, person string, before chat.MessageID, limit int) ([]chat.Message, error) {
	theirs, err := newest(limit, func(untilID string) ([]note, error) {
		return api.Call[[]note](ctx, m.api, "notes/mentions", limited{pageSize, cmp.Or(untilID, string(before)), specified})
	}, func(n note) bool { return n.Visibility == specified && n.UserID == person })
	if err != nil {
		return nil, err
	}
	ours, err := m.ownNotes(ctx, before, limit, true, func(n note) bool {
		return n.Visibility == specified && slices.Contains(n.Visible.V, person)
	})
	if err != nil {
		return nil, err
	}
	said, _ := until(m.messages(slices.Concat(theirs, ours)), before)
	return said, nil
}

// ownPosts tells what we wrote on our own timeline.
func (m *Misskey) ownPosts(ctx context.Context, before chat.MessageID, limit int) ([]chat.Message, error) {
	notes, err := m.ownNotes(ctx, before, limit, false, func(n note) bool { return n.Visibility != specified })
	if err != nil {
		return nil, err
	}
	said, _ := until(m.messages(notes), before)
	return said, nil
}

// ownNotes are the newest of ours that are wanted.
func (m *Misskey) ownNotes(ctx context.Context, before chat.MessageID, limit int, replies bool, wanted func(note) bool) ([]note, error) {
	us := m.self().ID
	return newest(limit, func(untilID string) ([]note, error) {
		return api.Call[[]note](ctx, m.api, "users/notes", userNotes{us, pageSize, cmp.Or(untilID, string(before)), replies, false})
	}, func(n note) bool { return n.UserID == us && wanted(n) })
}

// newest are the newest notes of a list that are wanted.
func newest(limit int, page func(untilID string) ([]note, error), wanted func(note) bool) (found []note, err error) {
	err = back(historyPages, note.id, page, func(n note) bool {
		if wanted(n) {
			found = append(found, n)
		}
		return len(found) < limit
	})
	return found, err
}
