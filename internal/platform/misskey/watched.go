package misskey

import (
	"context"
	"slices"
	"time"

	"familiar/internal/chat"
)

// mostWatched is how many notes are watched at once: those that were heard last.
const mostWatched = 100

// watched are the notes of which we want to know when they are deleted, oldest first. Only a run uses it, and there is
// one at a time.
type watched []chat.Event

// watch asks to be told when a note that was heard is deleted. Chats tell nobody.
func (l *listener) watch(ctx context.Context, ev chat.Event) {
	if kind, _ := parsePlace(ev.Place.ID); kind == chatPlace || l.stream == nil {
		return
	}
	if len(l.watched) == mostWatched {
		l.stream.Unwatch(ctx, string(l.watched[0].Message))
		l.watched = slices.Delete(l.watched, 0, 1)
	}
	l.watched = append(l.watched, ev)
	l.stream.Watch(ctx, string(ev.Message))
}

// watchAgain asks a new stream for everything that was watched on the one before.
func (l *listener) watchAgain(ctx context.Context) {
	for _, ev := range l.watched {
		l.stream.Watch(ctx, string(ev.Message))
	}
}

// deleted hands in that a note which is watched was taken back.
func (l *listener) deleted(ctx context.Context, id string) {
	at := slices.IndexFunc(l.watched, func(ev chat.Event) bool { return string(ev.Message) == id })
	if at < 0 {
		return
	}
	ev := l.watched[at]
	l.watched = slices.Delete(l.watched, at, at+1)
	of := ev.Message
	ev.ID = chat.NewEventID(l.self().key(), ev.Place, chat.KindRecalled, string(of), "")
	ev.At, ev.Body = time.Now().UTC(), chat.Recalled{Of: of}
	if l.hear(ctx, ev) == chat.Busy {
		l.log.Warn("a note was taken back, and that could not be heard", chat.KeyEvent, ev.ID)
	}
}
