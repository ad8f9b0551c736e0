package note

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// Wrote reports whether the session has written a note by now; a line in a list alone is none.
func (w *Work) Wrote() bool {
	files, _, err := w.gather()
	return err == nil && slices.ContainsFunc(files, func(f File) bool { return f.Path != index })
}

// Drop ends the work without a draft.
func (w *Work) Drop() {
	w.notes.mu.Lock()
	defer w.notes.mu.Unlock()
	delete(w.notes.works, w.turn)
}

// Keep ends the work, and keeps what is new in the copy as a draft that waits. Nobody writes in the copy any more. The
// draft has no file where there is nothing new. What does not fit is left out and logged.
func (w *Work) Keep() (Draft, error) {
	defer w.Drop()
	files, left, err := w.gather()
	if err != nil {
		return Draft{}, fmt.Errorf("gather the notes: %w", err)
	}
	if left > 0 {
		w.notes.log.Warn("some of what a session wrote is no note, and was left out", "session", w.session, "files", left)
	}
	w.mu.Lock()
	d := Draft{Session: w.session, At: w.notes.now(), Sources: slices.Clone(w.sources), Files: files}
	w.mu.Unlock()
	if len(files) == 0 {
		return d, nil
	}
	return d, w.notes.keep(d)
}

// gather finds what is new in the copy, and counts what does not fit.
func (w *Work) gather() (files []File, left int, err error) {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	for _, dir := range []string{"notes", "journal"} {
		names, more, err := namesIn(root, dir)
		if err != nil {
			return nil, 0, err
		}
		left += more
		for _, name := range names {
			f, fresh, ok := w.compare(root, path.Join(dir, name))
			switch {
			case !ok || fresh && len(files) >= MostFiles:
				left++
			case fresh:
				files = append(files, f)
			}
		}
	}
	slices.SortStableFunc(files, last)
	return files, left, nil
}

// last is the order of a draft's files: a list comes after what it lists.
func last(a, b File) int {
	if a.Adds != b.Adds {
		if a.Adds {
			return 1
		}
		return -1
	}
	return strings.Compare(a.Path, b.Path)
}

// namesIn lists a folder of the copy in order, as far as it is bounded; more counts a folder that is none, or is too
// full.
func namesIn(root *os.Root, dir string) (names []string, more int, err error) {
	info, err := root.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil, 1, nil // the agent may have taken it away, or laid a link in its place
	}
	folder, err := root.Open(dir)
	if err != nil {
		return nil, 1, nil
	}
	defer folder.Close()
	entries, err := folder.ReadDir(mostEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if _, err := folder.ReadDir(1); err == nil {
		more = 1
	}
	slices.Sort(names)
	return names, more, nil
}

// compare tells what is new in one file of the copy; ok is false for one that is no note.
func (w *Work) compare(root *os.Root, name string) (f File, fresh, ok bool) {
	was, had := w.base[name]
	text, err := readFile(root, name, copiedFile)
	if err != nil {
		return File{}, false, false
	}
	if had && sum(text) == was.sum {
		return File{}, false, true
	}
	f = File{Path: name, Adds: adds(name), base: was.sum}
	if f.Adds {
		f.Text, f.base = added(was.text, bare(text)), ""
		if f.Text == "" {
			return File{}, false, true
		}
	} else {
		f.Text = bare(text)
	}
	return f, true, errors.Join(checkName(name), checkText(f.Text)) == nil
}
