// Package web is the chat over HTTP: the routes under /v1/sessions that the page, the command line and scripts
// use. It is a platform like any other: what is posted becomes a chat.Event, a chat.Action becomes a line of the
// session's stream.
//
// It promises: a message that was answered with 202 was heard; the same id is heard once; a stream is durable
// and replayable from any index for 30 days or 10,000 events, whichever is less; indexes of a session only grow.
// Whoever reaches the routes is the owner: whether they may is decided in front, not here.
//
// A line of a stream is {index, type, at, data}. The types, and what data holds:
//
//	session.started, session.waiting    nothing; waiting means that no turn runs any more
//	message.received                    messageId, text, replyTo
//	message.completed                   messageId, text, replyTo, turnId: a message of ours
//	message.files                       messageId, text, replyTo, files [{name, mimeType, size, path}]: a GET of path is the file
//	message.updated                     messageId, text: it says something else now
//	message.deleted, message.reacted    messageId; emoji
//	input.requested                     requestId, messageId (the same), text, options [{optionId, label}], replyTo, turnId
//	input.completed                     requestId, messageId, text: the question is closed; the text says how
//	turn.started, turn.completed, turn.failed, turn.cancelled    turnId
//	actions.requested, action.result    turnId, tool; ok
//
// An empty line means that the connection lives. A reader skips types that it does not know.
package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/sqlite"
)

// Name is the platform's word in places, files and metrics.
const Name = "web"

// MaxText is the longest reply, in runes.
const MaxText = 100_000

// owner is the only person of this platform: the holder of the token or of a page session.
var owner = chat.Person{Platform: Name, ID: "owner"}

// Deps is what the platform needs of its host.
type Deps struct {
	Log *slog.Logger
	// Stop ends the running turn of a place and says whether there was one.
	Stop func(ctx context.Context, place chat.Place) bool
	// ViaPage says that a request came with a page session, not with the bearer. Answers need one.
	ViaPage func(r *http.Request) bool
	// Closing ends every open stream when it is closed; the host closes it before it shuts the listener. Until
	// then streams stay open after Run has ended, so that the last replies still arrive.
	Closing <-chan struct{}
}

// Web is the platform. Safe for concurrent use.
type Web struct {
	db   *sqlite.DB
	deps Deps
	ear  *platform.Ear

	mu    sync.Mutex
	feeds map[string]*feed
}

var (
	_ platform.Platform = (*Web)(nil)
	_ platform.Served   = (*Web)(nil)
)

// New makes the platform and its tables, and closes the turns that an earlier process left open. It must be the
// only Web on db.
func New(ctx context.Context, db *sqlite.DB, _ Config, deps Deps) (*Web, error) {
	if err := errors.Join(db.Migrate(ctx, Name, schema...), db.Migrate(ctx, Name+" files", filesSchema)); err != nil {
		return nil, err
	}
	w := &Web{db: db, deps: deps, ear: platform.NewEar(Name), feeds: map[string]*feed{}}
	if err := w.closeCutOff(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

// Name returns "web".
func (w *Web) Name() string { return Name }

// Abilities says what a stream can show.
func (w *Web) Abilities() chat.Abilities {
	return chat.Abilities{MaxText: MaxText, Unit: chat.Runes, Edit: true, Delete: true, React: true, Buttons: true, Files: true,
		MaxFiles: maxFiles, MaxFileBytes: maxFileSize, Progress: true, Idempotent: true, Redelivers: true}
}

// Run takes posts until ctx ends, and forgets once a day what is too old. It returns when no post is being heard.
func (w *Web) Run(ctx context.Context, hear chat.Hear, up func()) error {
	if err := w.ear.Open(hear); err != nil {
		return err
	}
	defer w.ear.Close()
	up()
	w.tryForget(ctx)
	daily := time.NewTicker(24 * time.Hour)
	defer daily.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-daily.C:
			w.tryForget(ctx)
		}
	}
}

// tryForget removes what is too old. When that fails, the next day will do.
func (w *Web) tryForget(ctx context.Context) {
	if err := w.forget(ctx); err != nil && ctx.Err() == nil {
		w.deps.Log.Warn("old stream events stay", chat.KeyPlatform, Name, chat.KeyErr, err.Error())
	}
}

// placeOf is the place of a session.
func placeOf(session string) chat.Place {
	return chat.Place{Platform: Name, ID: session, Kind: chat.Direct}
}
