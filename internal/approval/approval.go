// Package approval asks people before something is done, and keeps the questions: what would be done, with which
// arguments, for whom, under which standing, who may answer and until when. It decides whose answer counts; it runs
// nothing itself.
//
// The first answer wins, in one transaction, and whoever comes second is told. A question about a tool of ours outlives
// a restart and is answered within a day; one that a turn waits for lasts minutes and dies with its turn. What is shown
// is what was frozen, with secrets taken out and bounded; a yes counts for exactly that.
package approval

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/phrase"
	"familiar/internal/secret"
	"familiar/internal/sqlite"
)

// How long a question stays open, and other bounds.
const (
	DeedTime   = 24 * time.Hour  // about a tool of ours, that is run when the yes comes
	WaitTime   = 5 * time.Minute // a turn waits for the answer
	quiet      = 5 * time.Second // a word that comes sooner was written before the question was read
	kept       = 30 * 24 * time.Hour
	mostOpen   = 5        // questions that one person has open in one place
	mostArgs   = 64 << 10 // bytes of arguments that can be asked about
	mostShown  = 1500     // characters of them that are shown
	mostResult = 1500     // characters of a result that are told
	lookBack   = 20       // messages among which our newest is looked for
)

// Approvals are the questions of a bot. Safe for concurrent use.
type Approvals struct {
	deps     Deps
	patience time.Duration // WaitTime, except in tests

	mu    sync.Mutex
	waits map[string]chan Option // by question: who waits for its answer
}

// Deps is what questions need of their host.
type Deps struct {
	DB      *sqlite.DB
	Phrases phrase.Book
	Vault   *secret.Vault
	Zone    *time.Location // in which a day begins and ends
	Now     func() time.Time
	Log     *slog.Logger

	// Leaving is closed when nothing is heard any more: whoever waits for an answer waits in vain. nil never is.
	Leaving <-chan struct{}
	// Trust says how far the author of an event is trusted.
	Trust func(chat.Event) chat.Trust
	// Do lets an action out.
	Do func(ctx context.Context, t chat.Turn, a chat.Action) (chat.Receipt, error)
	// Before returns messages of a place, oldest first; as history has them.
	Before func(ctx context.Context, place chat.Place, before chat.MessageID, limit int) ([]chat.Message, error)
}

// New prepares the tables.
func New(ctx context.Context, deps Deps) (*Approvals, error) {
	if err := deps.DB.Migrate(ctx, "approval", schema); err != nil {
		return nil, err
	}
	return &Approvals{deps: deps, patience: WaitTime, waits: map[string]chan Option{}}, nil
}

// today is the day that a «not again today» is for.
func (a *Approvals) today() string { return a.deps.Now().In(a.deps.Zone).Format(time.DateOnly) }

func (a *Approvals) warn(q Question, doing string, err error) {
	if err != nil {
		a.deps.Log.Warn("a question went wrong", "question", q.ID, "doing", doing, chat.KeyTurn, q.Turn, chat.KeyErr, err)
	}
}
