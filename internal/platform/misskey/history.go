package misskey

import (
	"context"
	"fmt"
	"slices"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/api"
)

// Before tells what was said in a place, oldest first. In the thread of a note that others can read it leaves out what
// only some can see: a prompt made of it is answered where all can read. Before we know who we are nothing is told: our
// own words would be somebody's.
func (m *Misskey) Before(ctx context.Context, place chat.Place, before chat.MessageID, limit int) ([]chat.Message, error) {
	kind, ref, err := here(place)
	if err != nil {
		return nil, err
	}
	if m.self().ID == "" {
		return nil, platform.Temporary{Err: errNotYet}
	}
	limit = min(max(limit, 1), pageSize)
	var said []chat.Message
	switch kind {
	case notePlace:
		said, err = m.thread(ctx, ref, before, limit)
	case dmPlace:
		said, err = m.directNotes(ctx, ref, before, limit)
	case chatPlace:
		said, err = m.chatBefore(ctx, ref, before, limit)
	case timeline:
		said, err = m.ownPosts(ctx, before, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was said: %w", api.Judge(err, false))
	}
	return said[max(0, len(said)-limit):], nil
}

// search is the parameters of a search.
type search struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

// Search looks through the notes that everybody can read, wherever they were written.
func (m *Misskey) Search(ctx context.Context, place chat.Place, query string, limit int) ([]chat.Message, error) {
	if _, _, err := here(place); err != nil {
		return nil, err
	}
	found, err := api.Call[[]note](ctx, m.api, "notes/search", search{query, min(max(limit, 1), pageSize)})
	if err != nil {
		return nil, fmt.Errorf("search for notes: %w", api.Judge(err, false))
	}
	found = slices.DeleteFunc(found, func(n note) bool { return n.Visibility != "public" && n.Visibility != "home" })
	return m.messages(found), nil
}

// messages makes history of notes: each once, oldest first, without those that say nothing.
func (m *Misskey) messages(notes []note) (said []chat.Message) {
	slices.SortStableFunc(notes, func(a, b note) int { return compare(a.CreatedAt.V.Time, a.ID, b.CreatedAt.V.Time, b.ID) })
	seen := map[string]bool{}
	for _, n := range notes {
		if api.IsID(n.ID) && api.IsID(n.UserID) && !seen[n.ID] {
			seen[n.ID] = true
			said = append(said, m.message(n))
		}
	}
	return said
}

func compare(at time.Time, id string, than time.Time, other string) int {
	if c := at.Compare(than); c != 0 {
		return c
	}
	switch {
	case id < other:
		return -1
	case id > other:
		return 1
	}
	return 0
}

func (m *Misskey) message(n note) chat.Message {
	me := m.self()
	author := n.User.V
	author.ID = n.UserID
	m.people.meet(author)
	from := author.person(me)
	text, mentioned := me.words(n)
	from.Name = shown(from)
	return chat.Message{ID: chat.MessageID(n.ID), From: from, Text: text, At: n.CreatedAt.V.UTC(),
		ReplyTo: chat.MessageID(n.ReplyID.V), Attachments: attachments(n.files()...),
		Addressed: mentioned || n.Visibility == specified, Reacted: n.MyReaction.V != ""}
}

// shown is how history names an author, so that two of one name are told apart.
func shown(p chat.Person) string {
	if p.Name == "" || p.Name == p.ID {
		return "@" + p.ID
	}
	return "@" + p.Name + " (" + p.ID + ")"
}

// until cuts off a message and everything after it; ok is false when it is not there.
func until(said []chat.Message, before chat.MessageID) (rest []chat.Message, ok bool) {
	if before == "" {
		return said, true
	}
	at := slices.IndexFunc(said, func(c chat.Message) bool { return c.ID == before })
	if at < 0 {
		return said, false
	}
	return said[:at], true
}
