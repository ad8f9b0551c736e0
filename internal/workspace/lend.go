package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// copyEnd tells a session's copy of the notes from its temporary folder, beside which it lies.
const copyEnd = ".notes"

// Lend makes the folder for a copy of the notes, empty, which a session that may write notes has in place of the
// agent workspace: it has to be there when the session enters. The session cannot reach the notes themselves. back
// takes the folder away, when nobody writes there any more.
func (f *Folders) Lend(ref Ref) (dir string, back func() error, err error) {
	ref.Notes = true
	paths, err := f.Paths(ref)
	if err != nil {
		return "", nil, err
	}
	dir = paths.Notes
	if !f.take(dir) {
		return "", nil, fmt.Errorf("copy the notes: session %s has a copy already", ref.Session)
	}
	back = func() error { return f.clear(dir) }
	if err := f.empty(dir); err != nil {
		return "", nil, fmt.Errorf("copy the notes: %w", errors.Join(err, back()))
	}
	return dir, back, nil
}

// empty makes dir an empty folder of its own, whatever lay there.
func (f *Folders) empty(dir string) error {
	if err := removeAll(dir); err != nil {
		return err
	}
	f.mu.Lock() // Leave of another session may be taking tmp/ away in this moment
	defer f.mu.Unlock()
	tmp := filepath.Dir(dir)
	if err := os.Mkdir(tmp, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Lstat(tmp); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", tmp)
	}
	return os.Mkdir(dir, 0o700)
}
