package note

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/sheet"
)

// What can be wrong with a draft that somebody names.
var (
	ErrUnknown = errors.New("no note that waits has this name")
	ErrMany    = errors.New("more than one note that waits has this name")
	ErrFull    = errors.New("too many notes wait; let some in, or reject them")
)

// ofSession is what a draft's folder is called.
var ofSession = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// keep lets a draft wait. It appears whole.
func (n *Notes) keep(d Draft) error {
	if !ofSession.MatchString(d.Session) {
		return fmt.Errorf("keep a draft: session %q is no name", d.Session)
	}
	release, err := n.hold()
	if err != nil {
		return fmt.Errorf("keep a draft: %w", err)
	}
	defer release()
	sessions, err := n.sessions()
	if err == nil && len(sessions) >= MostDrafts {
		err = ErrFull
	}
	if err != nil {
		return fmt.Errorf("keep a draft: %w", err)
	}
	fresh, err := os.MkdirTemp(n.waiting, ".new-")
	if err != nil {
		return fmt.Errorf("keep a draft: %w", err)
	}
	defer os.RemoveAll(fresh)
	for _, f := range d.Files {
		at := filepath.Join(fresh, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(at), dirMode); err != nil {
			return fmt.Errorf("keep a draft: %w", err)
		}
		if err := sheet.Write(at, []byte(d.record(f).head()+f.Text+"\n")); err != nil {
			return fmt.Errorf("keep a draft: %w", err)
		}
	}
	if err := os.Rename(fresh, filepath.Join(n.waiting, d.Session)); err != nil {
		return fmt.Errorf("keep a draft: %w", err)
	}
	return sheet.Flush(n.waiting)
}

// sessions lists those whose drafts wait. What a crash left of others has a name with a dot.
func (n *Notes) sessions() (names []string, err error) {
	entries, err := os.ReadDir(n.waiting)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && ofSession.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Waiting lists the drafts that wait, the oldest first. One that cannot be read is left out, and named by the error.
func (n *Notes) Waiting() ([]Draft, error) {
	names, err := n.sessions()
	errs := []error{err}
	var all []Draft
	for _, name := range names {
		d, err := n.load(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("the draft %s: %w", name, err))
			continue
		}
		if len(d.Files) > 0 {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b Draft) int { return a.At.Compare(b.At) })
	return all, errors.Join(errs...)
}

// load reads one draft.
func (n *Notes) load(session string) (Draft, error) {
	d := Draft{Session: session, Sources: []string{}}
	root, err := os.OpenRoot(filepath.Join(n.waiting, session))
	if err != nil {
		return d, err
	}
	defer root.Close()
	for _, dir := range []string{"journal", "notes"} {
		names, _, err := namesIn(root, dir)
		if err != nil {
			return d, err
		}
		for _, name := range names {
			name = path.Join(dir, name)
			text, err := readFile(root, name, copiedFile)
			if err != nil || checkName(name) != nil {
				continue // whoever laid it there was not this package
			}
			r, rest, _ := read(text)
			if !r.At.IsZero() { // somebody may have taken the record of one file away
				d.At = r.At
			}
			d.Sources = union(d.Sources, r.Sources)
			d.Files = append(d.Files, File{Path: name, Text: rest, Adds: adds(name), base: r.Base})
		}
	}
	slices.SortStableFunc(d.Files, last)
	return d, nil
}

// Find returns the draft that a word names: its session or a part of that, or one of its notes.
func (n *Notes) Find(word string) (Draft, error) {
	all, err := n.Waiting()
	word = strings.Trim(strings.TrimSpace(word), "`")
	var found []Draft
	for _, d := range all {
		if word != "" && d.Session == word {
			return d, nil
		}
		part := len(word) >= 6 && (strings.HasPrefix(d.Session, word) || strings.HasSuffix(d.Session, word))
		if part || slices.ContainsFunc(d.Files, func(f File) bool { return f.Path == word || !f.Adds && stem(f.Path) == stem(word) }) {
			found = append(found, d)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Draft{}, fmt.Errorf("%w: %.100q; name it by its session", ErrMany, word)
	}
	return Draft{}, errors.Join(fmt.Errorf("%w: %.100q", ErrUnknown, word), err)
}

// Reject throws a draft away for good.
func (n *Notes) Reject(session string) error {
	release, err := n.hold()
	if err != nil {
		return err
	}
	defer release()
	if err := n.known(session); err != nil {
		return err
	}
	return n.remove(session)
}

func (n *Notes) known(session string) error {
	if sessions, err := n.sessions(); err != nil || !slices.Contains(sessions, session) {
		return errors.Join(err, fmt.Errorf("%w: %.100q", ErrUnknown, session))
	}
	return nil
}

// remove takes a draft away, at once as a whole.
func (n *Notes) remove(session string) error {
	gone := filepath.Join(n.waiting, ".gone-"+session)
	if err := os.RemoveAll(gone); err != nil { // of a crash
		return err
	}
	if err := os.Rename(filepath.Join(n.waiting, session), gone); err != nil {
		return err
	}
	return errors.Join(sheet.Flush(n.waiting), os.RemoveAll(gone))
}

// Count returns how many drafts wait; 0 where that cannot be told.
func (n *Notes) Count() int {
	names, err := n.sessions()
	if err != nil {
		return 0
	}
	return len(names)
}
