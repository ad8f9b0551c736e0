package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Modes of what is laid out. The agent is the same user as we are: that it cannot write there is the work of
// the walls around it, the modes only show it.
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o400
	execMode fs.FileMode = 0o500
)

// Lay makes dst hold exactly these skills, each in a folder of its name, with read-only files. dst belongs to
// Lay alone: whatever else lies in it is removed. A folder that is right already is not touched; another one is
// written beside its place and then takes it in one step, so that an agent that reads sees the old or the new
// one. dst itself is never replaced, since agents may hold it open. One Lay at a time.
//
// Nothing is flushed to the disk: what a power cut spoils is seen and laid anew at the next start.
func Lay(dst string, skills []Skill) error {
	if err := os.MkdirAll(dst, dirMode); err != nil {
		return fmt.Errorf("lay out skills: %w", err)
	}
	wanted := map[string]bool{}
	for _, s := range skills {
		wanted[s.Name] = true
		if s.liesIn(filepath.Join(dst, s.Name)) {
			continue
		}
		if err := s.lay(dst); err != nil {
			return fmt.Errorf("lay out skill %s: %w", s.Name, err)
		}
	}
	entries, err := os.ReadDir(dst)
	if err != nil {
		return fmt.Errorf("lay out skills: %w", err)
	}
	for _, e := range entries {
		if !wanted[e.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dst, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("clear old skills away: %w", err)
	}
	return nil
}

// Put makes dst hold a skill, in a folder of its name, beside whatever else lies there. One Put at a time.
func Put(dst string, s Skill) error {
	err := os.MkdirAll(dst, dirMode)
	if err == nil && !s.liesIn(filepath.Join(dst, s.Name)) {
		err = s.lay(dst)
	}
	if err != nil {
		return fmt.Errorf("lay out skill %s: %w", s.Name, err)
	}
	return nil
}

// liesIn reports whether dir holds this skill and nothing else.
func (s Skill) liesIn(dir string) bool {
	found := 0
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			found++
		}
		return err
	})
	if err != nil || found != len(s.Files) {
		return false
	}
	for _, f := range s.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != f.mode() {
			return false
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(data, f.Data) {
			return false
		}
	}
	return true
}

func (f File) mode() fs.FileMode {
	if f.Exec {
		return execMode
	}
	return fileMode
}

// lay writes the skill beside its place and swaps the two. What a crash leaves behind has a name that no skill
// can have, and goes with the next Lay.
func (s Skill) lay(dst string) error {
	fresh, err := os.MkdirTemp(dst, ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(fresh) }() // after the swap it is the old one; the next Lay removes what stays
	root, err := os.OpenRoot(fresh)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, f := range s.Files {
		if dir, _, ok := cutLast(f.Path); ok {
			if err := root.MkdirAll(dir, dirMode); err != nil {
				return err
			}
		}
		if err := root.WriteFile(f.Path, f.Data, f.mode()); err != nil {
			return err
		}
		if err := root.Chmod(f.Path, f.mode()); err != nil { // whatever the umask says
			return err
		}
	}
	return swap(fresh, filepath.Join(dst, s.Name))
}

func cutLast(path string) (dir, name string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// swapInTwo is the second best: for an instant there is no skill at all.
func swapInTwo(fresh, old string) error {
	aside := fresh + ".old"
	if err := os.Rename(old, aside); err != nil {
		return err
	}
	if err := os.Rename(fresh, old); err != nil {
		return errors.Join(err, os.Rename(aside, old))
	}
	return os.RemoveAll(aside)
}
