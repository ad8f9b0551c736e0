package note

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"familiar/internal/chat"
)

// Work is the copy that one session writes in. Safe for concurrent use.
type Work struct {
	notes   *Notes
	turn    chat.TurnID
	session string
	dir     string

	mu      sync.Mutex
	sources []string
	base    map[string]base
}

// base is what a file of the copy held at first.
type base struct {
	sum  string
	text string // of files that sessions add to
}

// Begin fills the empty folder dir with a copy of the notes, and lets a session write in it until Drop.
func (n *Notes) Begin(turn chat.TurnID, session, dir string) (*Work, error) {
	w := &Work{notes: n, turn: turn, session: session, dir: dir, base: map[string]base{}}
	if err := w.fill(); err != nil {
		return nil, fmt.Errorf("copy the notes: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.works[turn] = w
	return w, nil
}

// of returns the work of a turn.
func (n *Notes) of(turn chat.TurnID) (*Work, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	w, ok := n.works[turn]
	return w, ok
}

// Read records that a turn read what lies at some addresses. A turn that writes no notes has no record.
func (n *Notes) Read(turn chat.TurnID, urls ...string) {
	w, ok := n.of(turn)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, url := range urls {
		if url = address(url); url != "" && len(w.sources) < MostSources && !slices.Contains(w.sources, url) {
			w.sources = append(w.sources, url)
		}
	}
}

// fill copies the notes. Links and what is not Markdown stay behind, and so does what is beyond the bounds.
func (w *Work) fill() error {
	from, err := os.OpenRoot(w.notes.dir)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(w.dir)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, dir := range []string{"notes", "journal"} {
		if err := to.Mkdir(dir, dirMode); err != nil {
			return err
		}
	}
	files, total := 0, 0
	return fs.WalkDir(from.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && name != "notes" && name != "journal":
			return fs.SkipDir
		case !e.Type().IsRegular() || path.Ext(name) != ".md":
			return nil
		}
		text, err := readFile(from, name, copiedFile)
		if errors.Is(err, errLong) {
			return nil
		}
		if files, total = files+1, total+len(text); err != nil || files > mostCopied || total > copiedBytes {
			return errors.Join(err, fs.SkipAll)
		}
		b := base{sum: sum(text)}
		if adds(name) {
			b.text = text
		}
		w.base[name] = b
		return to.WriteFile(name, []byte(text), 0o600)
	})
}

// write puts a note into the copy. What is written into a file that sessions add to is added there.
func (w *Work) write(name, text string) error {
	if err := errors.Join(checkName(name), checkText(text)); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if adds(name) {
		old, err := readFile(root, name, copiedFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if more := added(old, text); more != "" {
			text = strings.TrimRight(old, "\n") + "\n" + more + "\n"
		} else {
			text = old
		}
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // a link is replaced, not followed
		return err
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, text)
	return errors.Join(err, file.Close())
}

// look reads a note of the copy.
func (w *Work) look(name string) (string, error) {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	return readFile(root, name, copiedFile)
}

var errLong = errors.New("the file is too long")

// readFile reads a plain file below root that is no longer than most bytes. A link is none, wherever it leads.
func readFile(root *os.Root, name string, most int64) (string, error) {
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, notPlain(err))
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) // nor one that took its place
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errPlain
	case info.Size() > most:
		return "", errLong
	}
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = errLong
	}
	return string(text), err
}

var errPlain = errors.New("it is not a plain file")

func notPlain(err error) error {
	if err == nil {
		return errPlain
	}
	return nil
}

func sum(text string) string {
	of := sha256.Sum256([]byte(text))
	return hex.EncodeToString(of[:])
}
