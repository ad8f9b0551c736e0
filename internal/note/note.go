// Package note owns what sessions write into the notes that agents share. A session never writes them itself: it works
// in a copy, and what is new in it when it ends is a draft, with a record of what the session had read. Drafts wait
// outside of everything that other sessions can read, until the owner lets them in or throws them away.
//
// It promises: a draft is Markdown, bounded, under a plain name; nothing in it can speak for where it comes from; two
// drafts that add to the same list can both be let in; and a crash at any instant loses neither a draft nor a note.
package note

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"familiar/internal/chat"
)

// Folder is where drafts wait, below the folder of a bot's data.
const Folder = "notes-waiting"

// The bounds of what one session leaves, and of what waits.
const (
	MostDrafts    = 200      // sessions whose drafts wait
	MostFiles     = 20       // of one draft
	MostBytes     = 64 << 10 // of one file
	MostSources   = 100      // addresses that are recorded
	mostCopied    = 5000     // files that a session gets a copy of
	copiedBytes   = 32 << 20 // of all of them
	copiedFile    = 1 << 20  // of one of them
	mostEntries   = 5000     // of a folder that an agent filled
	longestToTell = 20_000   // characters that read-note tells
	longestURL    = 2048     // bytes
	dirMode       = 0o700
)

// Notes is the shared notes and the drafts that wait for them. Safe for concurrent use, also beside another process that
// looks at the same folders.
type Notes struct {
	dir     string // the notes
	waiting string // the drafts, a folder for each session
	now     func() time.Time
	log     *slog.Logger

	mu    sync.Mutex
	works map[chat.TurnID]*Work
}

// Open opens the notes in the folder dir, and the drafts that wait in the folder Folder of data. It makes nothing.
func Open(dir, data string, now func() time.Time, log *slog.Logger) *Notes {
	return &Notes{dir: dir, waiting: filepath.Join(data, Folder), now: now, log: log, works: map[chat.TurnID]*Work{}}
}

// Draft is what one session left.
type Draft struct {
	Session string    `json:"session"`
	At      time.Time `json:"date"`
	Sources []string  `json:"sources"` // the addresses that the session read
	Files   []File    `json:"files"`
}

// File is one note of a draft.
type File struct {
	Path string `json:"path"` // in the agent workspace, with slashes
	Text string `json:"text"` // without the record of where it comes from
	Adds bool   `json:"adds"` // the text is added to what is there; else the file is new or takes the place of the old
	base string // the sum of what it takes the place of; "" for a new one
}

// Name is a draft's word for people: its first note's name, else its session.
func (d Draft) Name() string {
	for _, f := range d.Files {
		if !f.Adds {
			return stem(f.Path)
		}
	}
	return d.Session
}

// record is where a draft's files come from.
func (d Draft) record(f File) record {
	return record{Session: d.Session, At: d.At, Sources: d.Sources, Base: f.base}
}

// hold keeps every other process out of the drafts until release.
func (n *Notes) hold() (release func(), err error) {
	if err := os.MkdirAll(n.waiting, dirMode); err != nil {
		return nil, err
	}
	dir, err := os.Open(n.waiting)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		_ = dir.Close()
		return nil, fmt.Errorf("hold the drafts: %w", err)
	}
	return func() { _ = dir.Close() }, nil
}
