package misskey

import (
	"context"
	"slices"
	"time"

	"familiar/internal/chat"
)

// Bounds of what is fetched after a time of deafness: of each list no more than the newest 5,000.
const (
	pageSize = 100
	maxPages = 50
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
	err := l.fetchMissed(ctx, from)
	if err == nil {
		return
	}
	l.later(from.Add(slack))
	switch {
	case revoked(err):
		l.abort(err)
	case ctx.Err() == nil:
		l.log.Warn("what was said meanwhile could not be fetched", chat.KeyErr, err)
	}
}

func (l *listener) fetchMissed(ctx context.Context, from time.Time) error {
	notes, err := l.missedNotes(ctx, from)
	if err != nil {
		return err
	}
	for _, n := range notes {
		l.takeNote(ctx, n)
	}
	chats, err := l.missedChats(ctx, from)
	if err != nil {
		return err
	}
	for _, c := range chats {
		l.takeChat(ctx, c)
	}
	return nil
}

// missedNotes fetches the notes that mention us from a moment on.
func (l *listener) missedNotes(ctx context.Context, from time.Time) ([]note, error) {
	missed, err := back(from, note.when, func(untilID string) ([]note, error) {
		return call[[]note](ctx, l.api, "notes/mentions", limited{pageSize, untilID})
	})
	if len(missed) == maxPages*pageSize {
		l.log.Warn("more was said meanwhile than is fetched; the oldest of it is not heard", "fetched", len(missed), "since", from)
	}
	slices.SortStableFunc(missed, func(a, b note) int { return a.CreatedAt.V.Compare(b.CreatedAt.V.Time) })
	return missed, judge(err, false)
}

// missedChats fetches the chat messages of others from a moment on: first who wrote, then what. An instance without
// chats has none, and neither has somebody with whom there is none any more.
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
		said, err := back(from, chatMessage.when, func(untilID string) ([]chatMessage, error) {
			return l.chatWith(ctx, with, pageSize, untilID)
		})
		switch err = judge(err, false); {
		case err != nil && !temporary(err) && !revoked(err) && ctx.Err() == nil:
			l.log.Warn("a chat cannot be read", chat.KeyPerson, with, chat.KeyErr, err)
		case err != nil:
			return nil, err
		}
		missed = append(missed, slices.DeleteFunc(said, func(c chatMessage) bool { return c.From == us })...)
	}
	slices.SortStableFunc(missed, func(a, b chatMessage) int { return a.CreatedAt.V.Compare(b.CreatedAt.V.Time) })
	return missed, nil
}

func (n note) when() (string, time.Time)        { return n.ID, n.CreatedAt.V.Time }
func (c chatMessage) when() (string, time.Time) { return c.ID, c.CreatedAt.V.Time }

// back reads a list, newest first, as far back as a moment. A short page need not be the last: some lists leave out of
// theirs what we may not see.
func back[T any](from time.Time, when func(T) (string, time.Time), page func(untilID string) ([]T, error)) (found []T, err error) {
	untilID := ""
	for range maxPages {
		got, err := page(untilID)
		if err != nil || len(got) == 0 {
			return found, err
		}
		for _, v := range got {
			if _, at := when(v); at.Before(from) {
				return found, nil
			}
			found = append(found, v)
		}
		last, _ := when(got[len(got)-1])
		if last == untilID {
			return found, nil
		}
		untilID = last
	}
	return found, nil
}
