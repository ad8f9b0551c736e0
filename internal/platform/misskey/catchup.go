package misskey

import (
	"context"
	"slices"
	"time"

	"familiar/internal/chat"
)

// Bounds of what is fetched after a time of deafness.
const (
	pageSize = 100
	maxPages = 5
)

// limited is the parameters of a list.
type limited struct {
	Limit   int    `json:"limit"`
	UntilID string `json:"untilId,omitempty"`
}

// catchUp hands in what was said while nobody listened, oldest first. What was heard already is known to whoever hears.
// When it cannot be fetched, that is told and tried again later.
func (l *listener) catchUp(ctx context.Context) {
	from := l.since.missing()
	l.busy = false
	notes, err := l.missedNotes(ctx, from)
	if err == nil {
		for _, n := range notes {
			l.takeNote(ctx, n)
		}
		var chats []chatMessage
		if chats, err = l.missedChats(ctx, from); err == nil {
			for _, c := range chats {
				l.takeChat(ctx, c)
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		l.busy = true
		l.since.behind(from.Add(slack))
		l.log.Warn("what was said meanwhile could not be fetched", chat.KeyErr, err)
	}
}

// missedNotes fetches the notes that mention us from a moment on.
func (l *listener) missedNotes(ctx context.Context, from time.Time) (missed []note, err error) {
	page := limited{Limit: pageSize}
	for n := 1; ; n++ {
		found, err := call[[]note](ctx, l.api, "notes/mentions", page)
		if err != nil {
			return nil, judge(err, false)
		}
		old := slices.IndexFunc(found, func(n note) bool { return n.CreatedAt.V.Before(from) })
		if old < 0 {
			old = len(found)
		}
		missed = append(missed, found[:old]...)
		if old < len(found) || len(found) < pageSize {
			break
		}
		if n == maxPages {
			l.log.Warn("more was said meanwhile than is fetched; the oldest of it is not heard", "fetched", len(missed), "since", from)
			break
		}
		page.UntilID = found[len(found)-1].ID
	}
	slices.SortStableFunc(missed, func(a, b note) int { return a.CreatedAt.V.Compare(b.CreatedAt.V.Time) })
	return missed, nil
}

// missedChats fetches the chat messages of others from a moment on: first who wrote, then what. An instance without
// chats has none.
func (l *listener) missedChats(ctx context.Context, from time.Time) (missed []chatMessage, err error) {
	latest, err := call[[]chatMessage](ctx, l.api, "chat/history", limited{Limit: pageSize})
	switch {
	case is(err, "UNKNOWN_API_ENDPOINT", noChat, "PERMISSION_DENIED"):
		return nil, nil
	case err != nil:
		return nil, judge(err, false)
	}
	us := l.self().ID
	for _, last := range latest {
		with := last.From
		if with == us {
			with = last.To.V
		}
		if last.CreatedAt.V.Before(from) || last.Room.V != "" || !anID.MatchString(with) {
			continue
		}
		said, err := l.chatWith(ctx, with, pageSize, "")
		if err != nil {
			return nil, err
		}
		for _, c := range said {
			if c.From != us && !c.CreatedAt.V.Before(from) {
				missed = append(missed, c)
			}
		}
	}
	slices.SortStableFunc(missed, func(a, b chatMessage) int { return a.CreatedAt.V.Compare(b.CreatedAt.V.Time) })
	return missed, nil
}
