package workspace

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	notesDir = "agent-workspace"
	workDir  = "work"
	tmpDir   = "tmp"
	idFile   = ".id" // the raw id, beside the memories
	maxID    = 4096  // bytes of a raw id
)

//go:embed text
var texts embed.FS

// Folders is where all workspaces are. Safe for concurrent use; one process at a time.
type Folders struct {
	people  string   // resolved
	notes   string   // resolved
	guarded []string // what no agent may read as a whole, resolved

	mu   sync.Mutex
	live map[string]bool // the temporary folders of sessions that stand somewhere
}

// Open makes what is missing under dataDir: the folder of workspaces, which workspacesDir names below it, and the
// agent workspace. Nothing that is there is changed. guarded are further folders that walls must never open as a
// whole, such as the instance's own; dataDir is one of them.
func Open(dataDir, workspacesDir string, guarded ...string) (*Folders, error) {
	if !filepath.IsLocal(workspacesDir) {
		return nil, fmt.Errorf("open workspaces: %q is not a folder inside %s", workspacesDir, dataDir)
	}
	if err := os.MkdirAll(filepath.Join(dataDir, workspacesDir), 0o700); err != nil {
		return nil, fmt.Errorf("open workspaces: %w", err)
	}
	// Resolved once, so that the paths that agents see and name are those that the kernel knows.
	data, err := resolve(dataDir)
	if err != nil {
		return nil, fmt.Errorf("open workspaces: %w", err)
	}
	people, err := resolve(filepath.Join(data, workspacesDir))
	if err != nil {
		return nil, fmt.Errorf("open workspaces: %w", err)
	}
	f := &Folders{people: people, notes: filepath.Join(data, notesDir), live: map[string]bool{}}
	f.guarded = []string{data, people}
	for _, path := range guarded {
		if path, err = resolve(path); err != nil {
			return nil, fmt.Errorf("open workspaces: %w", err)
		}
		f.guarded = append(f.guarded, path)
	}
	if err := f.shuttable(); err != nil {
		return nil, fmt.Errorf("open workspaces: %w", err)
	}
	if err := f.furnish(); err != nil {
		return nil, fmt.Errorf("open the agent workspace: %w", err)
	}
	return f, nil
}

// resolve makes a path absolute and free of links.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// furnish makes the agent workspace.
func (f *Folders) furnish() error {
	for _, dir := range []string{f.notes, filepath.Join(f.notes, "notes"), filepath.Join(f.notes, "journal")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	notes, err := filepath.EvalSymlinks(f.notes)
	if err != nil {
		return err
	}
	f.notes = notes
	for name, text := range map[string]string{"README.md": "text/readme.md", "notes/_index.md": "text/index.md"} {
		content, err := texts.ReadFile(text)
		if err != nil {
			return err
		}
		if err := writeNew(filepath.Join(f.notes, name), content); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// Notes is the path of the agent workspace.
func (f *Folders) Notes() string { return f.notes }

// Name is a person's folder as a relative path, <platform>/<user>, for other records about them.
func (f *Folders) Name(platform, user string) string {
	return filepath.Join(folderName(platform), folderName(user))
}

// Home returns the path of a person's folder, and makes it when it is not there. An id whose folder belongs to
// another id is refused.
func (f *Folders) Home(platform, user string) (string, error) {
	if platform == "" || user == "" || len(user) > maxID {
		return "", fmt.Errorf("open workspace: %q on %q is not a person", user, platform)
	}
	dir := filepath.Join(f.people, folderName(platform))
	home := filepath.Join(dir, folderName(user))
	if rel, err := filepath.Rel(f.people, home); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("open workspace: %q on %q leads out of %s", user, platform, f.people)
	}
	if err := claim(dir, home, user); err != nil {
		return "", fmt.Errorf("open workspace: %w", err)
	}
	return home, nil
}

// claim makes home for the id, or sees that it is the id's. A new folder appears with the id in it.
func claim(dir, home, id string) error {
	info, err := os.Lstat(home)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder", home)
	case err == nil:
		return claimed(home, id)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	if err := os.WriteFile(filepath.Join(fresh, idFile), []byte(id), 0o600); err != nil {
		return err
	}
	if err := os.Rename(fresh, home); err != nil && !isThere(err) {
		return err
	}
	return claimed(home, id)
}

// claimed checks whose folder it is. A folder that does not say belongs to who comes first: it was made by an
// earlier program, whose names were the ids.
func claimed(home, id string) error {
	path := filepath.Join(home, idFile)
	kept, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = writeNew(path, []byte(id)); err == nil {
			return nil
		}
		if errors.Is(err, fs.ErrExist) {
			kept, err = os.ReadFile(path)
		}
	}
	if err != nil {
		return err
	}
	if string(kept) != id {
		return fmt.Errorf("the folder %s belongs to another id; see its file %s", home, idFile)
	}
	return nil
}

// All lists everybody who has a folder. Session and Notes of the refs are empty.
func (f *Folders) All() ([]Ref, error) {
	homes, _, err := Look(filepath.Dir(f.people), filepath.Base(f.people))
	all := make([]Ref, len(homes))
	for i, home := range homes {
		all[i] = home.Ref
	}
	return all, err
}

// isPlace tells a folder of ours from what else may lie there.
func isPlace(e fs.DirEntry) bool { return e.IsDir() && !strings.HasPrefix(e.Name(), ".") }
