package serve

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"familiar/internal/agent/loop"
	"familiar/internal/journal"
	"familiar/internal/llm"
)

const (
	// mostKept and longestKept bound what is kept: how many sessions, and for how long after their last turn.
	mostKept    = 200
	longestKept = 90 * 24 * time.Hour
	// largestKept is how long the file of a session gets, in bytes; what is said beyond is not kept.
	largestKept = 32 << 20

	idPrefix  = "ses_"
	extension = ".jsonl"
)

// store keeps sessions in a folder, each in a file of lines: what it is, what was chosen in it, what was said in it.
type store struct{ dir string }

func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of sessions: %w", err)
	}
	return &store{dir}, nil
}

// line is one line of a session's file. The first has an ID; of the others, each has what changed.
type line struct {
	Version int             `json:"version,omitempty"`
	ID      string          `json:"id,omitempty"`
	CWD     string          `json:"cwd,omitempty"`
	At      time.Time       `json:"at"`
	Title   string          `json:"title,omitempty"`
	Mode    string          `json:"mode,omitempty"`
	Model   string          `json:"model,omitempty"`
	Said    json.RawMessage `json:"said,omitempty"` // a loop.History
}

const storeVersion = 1

// summary is what a session's file says of it.
type summary struct {
	id, cwd            string
	title, mode, model string
	history            loop.History
}

// read takes a line in. A line that is not understood is passed over: the loop mends what is missing then.
func (s *summary) read(raw []byte) error {
	var l line
	if json.Unmarshal(raw, &l) != nil {
		return journal.ErrSkip
	}
	if l.ID != "" {
		if l.Version != storeVersion {
			return fmt.Errorf("version %d is not understood by this build", l.Version)
		}
		s.id, s.cwd = l.ID, l.CWD
	}
	for _, change := range []struct {
		to   *string
		what string
	}{{&s.title, l.Title}, {&s.mode, l.Mode}, {&s.model, l.Model}} {
		if change.what != "" {
			*change.to = change.what
		}
	}
	var said loop.History
	if len(l.Said) > 0 {
		if json.Unmarshal(l.Said, &said) != nil {
			return journal.ErrSkip
		}
		s.history.Messages = append(s.history.Messages, said.Messages...)
		s.history.Foreign = s.history.Foreign || said.Foreign
	}
	return nil
}

// record is an open session's file. It is locked against other processes.
type record struct {
	summary
	path string
	lock *os.File

	mu   sync.Mutex
	file *journal.Journal
}

// create begins a session's file, and makes room for it.
func (s *store) create(cwd string) (*record, error) {
	if err := s.prune(time.Now()); err != nil {
		return nil, err
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	r := &record{summary: summary{id: idPrefix + hex.EncodeToString(id[:]), cwd: cwd}}
	if err := s.take(r); err != nil {
		return nil, fmt.Errorf("keep session: %w", err)
	}
	if err := r.append(line{Version: storeVersion, ID: r.id, CWD: cwd}); err != nil {
		return nil, errors.Join(err, r.remove())
	}
	return r, nil
}

// open opens the file of an earlier session and reads it.
func (s *store) open(id string) (*record, error) {
	if !isID(id) {
		return nil, errNoSession
	}
	if _, err := os.Lstat(s.path(id)); errors.Is(err, fs.ErrNotExist) {
		return nil, errNoSession
	}
	r := &record{summary: summary{id: id}}
	if err := s.take(r); err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	if _, err := r.file.Replay(r.read); err != nil {
		return nil, errors.Join(fmt.Errorf("read session: %w", err), r.close())
	}
	if r.id != id || r.cwd == "" {
		return nil, errors.Join(bad("the file of this session is damaged: its first line is missing"), r.close())
	}
	return r, nil
}

// isID tells an id of ours from a path.
func isID(id string) bool {
	digits, ok := strings.CutPrefix(id, idPrefix)
	raw, err := hex.DecodeString(digits)
	return ok && err == nil && len(raw) == 16 && digits == strings.ToLower(digits)
}

func (s *store) path(id string) string { return filepath.Join(s.dir, id+extension) }

// take opens and locks the file of a session.
func (s *store) take(r *record) (err error) {
	r.path = s.path(r.id)
	if r.file, err = journal.Open(r.path, journal.Options{}); err != nil {
		return err
	}
	if r.lock, err = locked(r.path); err != nil {
		return errors.Join(err, r.file.Close())
	}
	return nil
}

// locked locks a file, or says that it is in use.
func locked(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(refused("the session is open elsewhere"), file.Close())
	}
	return file, nil
}

func (r *record) append(l line) error {
	l.At = time.Now().UTC()
	raw, err := encode(l)
	if err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file.Size()+int64(len(raw)) > largestKept {
		return fmt.Errorf("keep session: the file has reached %d MiB; what is said now is not kept", largestKept>>20)
	}
	return r.file.Append(raw)
}

func encode(l line) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(l); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// chose keeps a title, a mode or a model.
func (r *record) chose(l line) error { return r.append(l) }

// said keeps what was said, message by message, and returns when it is on the disk.
func (r *record) said(h loop.History) error {
	for _, m := range h.Messages {
		raw, err := fitted(loop.History{Messages: []llm.Message{m}, Foreign: h.Foreign})
		if err == nil {
			err = r.append(line{Said: raw})
		}
		if err != nil {
			return err
		}
	}
	return r.file.Sync()
}

// close lets the file go.
func (r *record) close() error { return errors.Join(r.file.Close(), r.lock.Close()) }

// remove lets the file go and deletes it.
func (r *record) remove() error { return errors.Join(r.close(), os.Remove(r.path)) }
