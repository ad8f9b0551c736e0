// Package companion is the desk of a character that lives among people: on each message that is for it, it
// thinks in a fresh agent session with the memory of that person, and answers with at most one reply. Nothing
// that the agent writes reaches anybody; only tools speak. One person's messages in one place wait in line;
// people are attended to in parallel.
package companion

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"familiar/internal/agent"
	"familiar/internal/audit"
	"familiar/internal/briefing"
	"familiar/internal/chat"
	"familiar/internal/desk"
	"familiar/internal/permission"
	"familiar/internal/tool"
)

// Desk attends to turns. Safe for concurrent use.
type Desk struct {
	deps  Deps
	talks talks
}

// Deps is what the desk works with. All are needed, except Audit, Notes, Session and Ask.
type Deps struct {
	Agent   agent.Agent
	Model   func(chat.SessionType, chat.Event) string // "" leaves the agent's own choice
	Box     *tool.Box
	Tools   []string // the tools that a conversation gets
	Briefer *briefing.Briefer
	Sources briefing.Sources
	Audit   *audit.Book
	Now     func() time.Time
	Log     *slog.Logger

	// Errand returns what a session is told that nobody's message began; ErrNothing where there is none.
	Errand func(context.Context, chat.Turn) (briefing.Errand, error)
	// Notes lends a session that may write notes what it writes them in; needed where there are such sessions.
	Notes func(ctx context.Context, t chat.Turn, session string) (Notebook, error)
	// Session returns the id for a turn's tool session, that of an agent that waits for it where there is one; nil
	// makes a new id for each.
	Session func(chat.Turn) string
	// Policy is what decides on the agent's permission requests.
	Policy func(t chat.Turn, session string, yolo bool) permission.Policy
	// Ask puts a request about a tool of unknown effect, which the policy does not allow, before a person and waits for
	// them; ok is false where nobody is to be asked, and the policy's word stands. nil asks nobody.
	Ask func(ctx context.Context, t chat.Turn, ask agent.Ask) (verdict permission.Verdict, ok bool)
	// Yolo reports whether the agent may do everything in answer to an event, and what says so.
	Yolo func(ev chat.Event) (yolo bool, source string)
	// Limited reports whether the event counted against its author's rate, and was allowed.
	Limited func(ev chat.Event) bool
	// Deeds reports what the turn let somebody see.
	Deeds func(chat.Turn) chat.Deeds
	// Show tells what the turn is doing. It is lossy.
	Show func(context.Context, chat.Turn, chat.Progress)
}

// New makes the desk.
func New(deps Deps) *Desk {
	return &Desk{deps: deps, talks: talks{at: map[chat.TurnID]talk{}}}
}

// Notebook is what a session writes notes in.
type Notebook interface {
	// Wrote reports whether there is a new note by now.
	Wrote() bool
	// Close ends the writing, when the agent is gone. err is what the turn ended with.
	Close(err error)
}

// errLoop is the cause of a turn whose agent called one tool again and again.
var errLoop = errors.New("the agent is looping")

// loopGrace is how long an agent that loops lives on, so that it may read the answer that told it to stop
// (air-friends spec §5.3).
const loopGrace = 100 * time.Millisecond

// Room implements desk.Desk: a person waits in line only behind their own messages in the same place. What comes by
// itself has a line of its own.
func (d *Desk) Room(ev chat.Event) chat.RoomKey {
	if woke, ok := ev.Body.(chat.Woke); ok {
		return chat.NewRoomKey("companion", string(woke.Job), ev.Place.Platform, ev.Place.ID, ev.From.ID)
	}
	return chat.NewRoomKey("companion", ev.Place.Platform, ev.Place.ID, ev.From.ID)
}

// Attend implements desk.Desk. Once the person has seen something, the turn has succeeded whatever comes after.
func (d *Desk) Attend(ctx context.Context, t chat.Turn) (res desk.Result, err error) {
	ev, ok := t.Trigger()
	if !ok {
		return res, errors.New("attend: the turn has no cause")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := d.sit(ctx, t, ev, func() { time.AfterFunc(loopGrace, func() { cancel(errLoop) }) })
	s.begin()
	defer func() { s.end(err) }()
	res, err = s.run(ctx)
	if errors.Is(err, ErrNothing) {
		return res, nil
	}
	if res.Replied && err != nil {
		d.deps.Log.Info("the turn went wrong after it had answered", chat.KeyTurn, t.ID, chat.KeyErr, err)
		err = nil
	}
	return res, err
}
