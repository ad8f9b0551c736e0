package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Paths are the places of one session.
type Paths struct {
	Root  string // the person's folder: memories and reminders, out of an agent's reach
	Work  string // where the agent stands; it stays from session to session
	Tmp   string // TMPDIR of this session, removed with it
	Home  string // HOME of this session, removed with it
	Notes string // the agent workspace, shared by all; for a session that may write notes, its own copy
}

// Stand is a session that stands in a workspace, until Leave. Safe for concurrent use.
type Stand struct {
	Paths
	Ref     Ref
	folders *Folders
}

// Paths tells the places of a session; only the person's folder is made, when it is not there.
func (f *Folders) Paths(ref Ref) (Paths, error) {
	if !plain(ref.Session) {
		return Paths{}, fmt.Errorf("enter workspace: session %q is not a name of letters, digits, - and _", ref.Session)
	}
	root, err := f.Home(ref.Platform, ref.User)
	if err != nil {
		return Paths{}, err
	}
	tmp := filepath.Join(root, tmpDir, ref.Session)
	p := Paths{Root: root, Work: filepath.Join(root, workDir), Tmp: tmp, Home: tmp + ".home", Notes: f.notes}
	if ref.Notes {
		p.Notes = tmp + copyEnd
	}
	return p, nil
}

// Enter makes the places of a session. Its temporary folder and HOME are empty, whatever lay there. A session
// that stands somewhere already is refused.
func (f *Folders) Enter(ref Ref) (*Stand, error) {
	paths, err := f.Paths(ref)
	if err != nil {
		return nil, err
	}
	s := &Stand{Paths: paths, Ref: ref, folders: f}
	if !f.take(s.Tmp) {
		return nil, fmt.Errorf("enter workspace: session %s stands in it already", ref.Session)
	}
	if err := s.furnish(); err != nil {
		return nil, fmt.Errorf("enter workspace: %w", errors.Join(err, s.Leave()))
	}
	return s, nil
}

// plain reports whether a session's name is fit for a folder.
func plain(session string) bool {
	outside := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '_' && r != '-'
	}
	return session != "" && len(session) <= 128 && !strings.ContainsFunc(session, outside)
}

func (s *Stand) furnish() error {
	for _, old := range []string{s.Tmp, s.Home} {
		if err := removeAll(old); err != nil {
			return err
		}
	}
	if s.Ref.Notes && !s.folders.standing(s.Notes) {
		return errors.New("this session was given no copy of the notes")
	}
	// Leave of another session may be taking tmp/ away in this moment.
	s.folders.mu.Lock()
	defer s.folders.mu.Unlock()
	for _, dir := range []string{s.Work, filepath.Dir(s.Tmp), s.Tmp, s.Home} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		// A link in the place of a folder would lead elsewhere.
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
	}
	return nil
}

// Leave removes the session's temporary folder and HOME, and the folder that holds them when no other session is
// there. The agent must be gone. Calling it again does nothing.
func (s *Stand) Leave() error {
	if !s.folders.standing(s.Tmp) {
		return nil
	}
	if err := s.folders.clear(s.Tmp, s.Home); err != nil {
		return fmt.Errorf("leave workspace: %w", err)
	}
	return nil
}

// clear removes folders of a session, of which the first is marked as used, and the folder that holds them when
// nothing else is in it.
func (f *Folders) clear(dirs ...string) (err error) {
	for _, dir := range dirs {
		err = errors.Join(err, removeAll(dir))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.live, dirs[0])
	if no := os.Remove(filepath.Dir(dirs[0])); no != nil && !isThere(no) && !errors.Is(no, fs.ErrNotExist) {
		err = errors.Join(err, no)
	}
	return err
}

// Sweep removes temporary folders that no session stands in: those of a program that was killed. It may run
// beside everything else.
func (f *Folders) Sweep() error {
	sessions, err := filepath.Glob(filepath.Join(globEscape(f.people), "*", "*", tmpDir, "*"))
	if err != nil {
		return fmt.Errorf("sweep workspaces: %w", err)
	}
	var errs []error
	for _, path := range sessions {
		if strings.HasSuffix(path, copyEnd) {
			if f.take(path) {
				errs = append(errs, f.clear(path))
			}
			continue
		}
		if tmp := strings.TrimSuffix(path, ".home"); f.take(tmp) {
			s := &Stand{Paths: Paths{Tmp: tmp, Home: tmp + ".home"}, folders: f}
			errs = append(errs, s.Leave())
		}
	}
	return errors.Join(errs...)
}

// globEscape makes a path mean itself in a pattern.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// take marks a temporary folder as used, unless it is.
func (f *Folders) take(tmp string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.live[tmp] {
		return false
	}
	f.live[tmp] = true
	return true
}

func (f *Folders) standing(tmp string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live[tmp]
}

// removeAll removes a tree that an agent made, also where it took its own right to write away.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := os.Chmod(path, 0o700); err != nil { // not a link: only we write where it lies
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	// Best effort: RemoveAll says what still stands in the way.
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}
