// Package audit keeps a record of what happened: one file of lines for each session, in the order in which
// things happened, and one bounded file of the events that were turned away. It is for the operator to read and
// for nothing else to depend on: whatever fails here costs a warning, never a turn. Each entry is handed to the
// system when it is noted, so it outlives the process; it is on the disk when its turn was closed.
package audit

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"familiar/internal/chat"
	"familiar/internal/journal"
)

// Book is the record. Safe for concurrent use. A nil Book, and one that is not enabled, records nothing.
type Book struct {
	dir     string
	folder  func(platform, user string) string
	counted func(phase string)
	log     *slog.Logger
	hash    bool
	phases  []string // empty: all
	days    int      // how long a record is kept; 0 or less: for ever

	refused refusals
	folders sync.Mutex // held while folders are made or removed; never taken while mu is held

	mu    sync.Mutex
	turns map[chat.TurnID]*record
}

// Options are what a Book needs besides its settings.
type Options struct {
	Dir     string                             // data/audit; made when something is first written
	Folder  func(platform, user string) string // <platform>/<user> as a relative path, as workspaces name it
	Counted func(phase string)                 // told of every entry that is taken, written or not, also at once; may be nil
	Log     *slog.Logger
}

// New returns a book, or nil when the settings say that nothing is recorded.
func New(cfg Config, o Options) *Book {
	if !cfg.Enabled {
		return nil
	}
	b := &Book{dir: o.Dir, folder: o.Folder, counted: o.Counted, log: o.Log, hash: cfg.HashContent,
		phases: cfg.IncludedPhases, days: cfg.RetentionDays, turns: map[chat.TurnID]*record{}, refused: refusals{dir: o.Dir}}
	if b.counted == nil {
		b.counted = func(string) {}
	}
	return b
}

// Open begins the record of a turn: entries go to the file of its session, in the folder of the person whom it
// works for. Several turns may share a session, also at once.
func (b *Book) Open(turn chat.TurnID, session string, of chat.Person) {
	if b == nil {
		return
	}
	r := &record{session: session}
	file, err := b.file(session, of)
	if err != nil {
		b.log.Warn("the audit record of a session cannot be opened", chat.KeyTurn, turn, chat.KeySession, session,
			chat.KeyErr, err)
	}
	r.file = file
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.turns[turn]; old != nil {
		_ = old.close() // opened twice: the entries of before are written already
	}
	b.turns[turn] = r
}

// Note adds an entry to the record of a turn. A turn that is not open has no record.
func (b *Book) Note(turn chat.TurnID, e Entry) {
	if b == nil {
		return
	}
	b.mu.Lock()
	r := b.turns[turn]
	b.mu.Unlock()
	if r == nil {
		return
	}
	if !b.includes(e.Phase()) {
		r.count(e)
		return
	}
	b.counted(e.Phase())
	if err := r.note(e, b.hash); err != nil {
		b.log.Warn("an audit entry was not written", chat.KeyTurn, turn, "phase", e.Phase(), chat.KeyErr, err)
	}
}

// Close ends the record of a turn and returns when it is on the disk.
func (b *Book) Close(turn chat.TurnID) {
	if b == nil {
		return
	}
	b.mu.Lock()
	r := b.turns[turn]
	delete(b.turns, turn)
	b.mu.Unlock()
	if r == nil {
		return
	}
	if err := r.close(); err != nil {
		b.log.Warn("an audit record was not closed well", chat.KeyTurn, turn, chat.KeyErr, err)
	}
}

// Shut closes whatever is open, when the program leaves.
func (b *Book) Shut() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	errs := []error{b.refused.close()}
	for id, r := range b.turns {
		errs = append(errs, r.close())
		delete(b.turns, id)
	}
	return errors.Join(errs...)
}

// Writes reports whether entries of a phase are written, so that nobody collects for nothing.
func (b *Book) Writes(phase string) bool { return b != nil && b.includes(phase) }

func (b *Book) includes(phase string) bool {
	return len(b.phases) == 0 || slices.Contains(b.phases, phase)
}

// file opens the file of a session, making its folder.
func (b *Book) file(session string, of chat.Person) (*journal.Journal, error) {
	folder := b.folder(of.Platform, of.ID)
	if !filepath.IsLocal(folder) || session == "" || strings.ContainsAny(session, `/\`) || !filepath.IsLocal(session) {
		return nil, fmt.Errorf("%q in %q is no name for a record", session, folder)
	}
	folder = filepath.Join(b.dir, folder)
	b.folders.Lock()
	defer b.folders.Unlock()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	return journal.Open(filepath.Join(folder, session+".jsonl"), journal.Options{})
}
