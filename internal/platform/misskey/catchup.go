package misskey

import (
	"context"
	"slices"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey/api"
)

// maxPages bounds what is fetched after a time of deafness: of each list no more than the newest 5,000.
const maxPages = 50

// limited is the parameters of a list.
type limited struct {
	Limit      int    `json:"limit"`
	UntilID    string `json:"untilId,omitempty"`
	Visibility string `json:"visibility,omitempty"` // of notes; "" takes any
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
	case api.Revoked(err):
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
func (l *listener) missedNotes(ctx context.Context, from time.Time) (missed []note, err error) {
	err = back(maxPages, note.id, func(untilID string) ([]note, error) {
		return api.Call[[]note](ctx, l.api, "notes/mentions", limited{Limit: pageSize, UntilID: untilID})
	}, func(n note) bool {
		if n.CreatedAt.V.Before(from) {
			return false
		}
		missed = append(missed, n)
		return true
	})
	if len(missed) == maxPages*pageSize {
		l.log.Warn("more was said meanwhile than is fetched; the oldest of it is not heard", "fetched", len(missed), "since", from)
	}
	slices.SortStableFunc(missed, func(a, b note) int { return a.CreatedAt.V.Compare(b.CreatedAt.V.Time) })
	return missed, api.Judge(err, false)
}

// missedChats fetches the chat messages of others from a moment on: first who wrote, then what. An instance without
// chats has none, and neither has somebody with whom there is none any more.
func (l *listener) missedChats(ctx context.Context, from time.Time) (missed []chatMessage, err error) {
	latest, err := api.Call[[]chatMessage](ctx, l.api, "chat/history", limited{Limit: pageSize})
	switch {
	case api.Is(err, "UNKNOWN_API_ENDPOINT", api.ChatDenied, "PERMISSION_DENIED"):
		return nil, nil
	case err != nil:
		return nil, api.Judge(err, false)
	}
	us := l.self().ID
	for _, last := range latest {
		with := last.From
		if with == us {
			with = last.To.V
		}
		if last.CreatedAt.V.Before(from) || last.Room.V != "" || !api.IsID(with) {
			continue
		}
		err := back(maxPages, chatMessage.id, func(untilID string) ([]chatMessage, error) {
			return l.chatWith(ctx, with, pageSize, untilID)
		}, func(c chatMessage) bool {
			if c.CreatedAt.V.Before(from) {
				return false
			}
			if c.From != us {
				missed = append(missed, c)
			}
			return true
		})
		switch err = api.Judge(err, false); {
		case err != nil && !temporary(err) && !api.Revoked(err) && ctx.Err() == nil:
			l.log.Warn("a chat cannot be read", chat.KeyPerson, with, chat.KeyErr, err)
		case err != nil:
			return nil, err
		}
	}
	slices.SortStableFunc(missed, func(a, b chatMessage) int { return a.CreatedAt.V.Compare(b.CreatedAt.V.Time) })
	return missed, nil
}
