package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Expire removes what is older than audit.retentionDays; nothing where that is 0 or less, and from a nil Book.
func (b *Book) Expire() error {
	if b == nil || b.days <= 0 {
		return nil
	}
	removed, err := b.expire(time.Now())
	if removed > 0 {
		b.log.Info("removed audit records that were too old", "files", removed, "days", b.days)
	}
	if err != nil {
		return fmt.Errorf("some audit records that are too old stay: %w", err)
	}
	return nil
}

// expire removes the records that were last written more than the days before now, and the folders that are empty
// then. Links are neither followed nor removed. A file that a turn writes is not old.
func (b *Book) expire(now time.Time) (removed int, err error) {
	b.folders.Lock()
	defer b.folders.Unlock()
	info, err := os.Lstat(b.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.IsDir():
		return 0, fmt.Errorf("%s is not a folder", b.dir)
	}
	if err := b.refused.close(); err != nil { // it is opened again with the next refusal
		return 0, err
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return 0, err
	}
	s := sweep{root: root, before: now.AddDate(0, 0, -b.days), open: b.open()}
	return s.run()
}

// open lists the files that turns write now, from the book's folder.
func (b *Book) open() map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	files := map[string]bool{}
	for _, r := range b.turns {
		if name, err := filepath.Rel(b.dir, r.path()); err == nil {
			files[filepath.ToSlash(name)] = true
		}
	}
	return files
}

// sweep is one look for what is too old.
type sweep struct {
	root    *os.Root
	before  time.Time
	open    map[string]bool
	folders []string // outer ones first
	removed int
}

func (s *sweep) run() (removed int, err error) {
	err = fs.WalkDir(s.root.FS(), ".", s.visit)
	for i := len(s.folders) - 1; i >= 0; i-- {
		_ = s.root.Remove(s.folders[i]) // where something is left in it, it stays
	}
	return s.removed, errors.Join(err, s.root.Close())
}

func (s *sweep) visit(name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case d.IsDir():
		if name != "." {
			s.folders = append(s.folders, name)
		}
		return nil
	case !d.Type().IsRegular() || !isRecord(path.Base(name)) || s.open[name]:
		return nil
	}
	info, err := d.Info()
	if err != nil || !info.ModTime().Before(s.before) {
		return orGone(err)
	}
	if err := s.root.Remove(name); err != nil {
		return orGone(err)
	}
	s.removed++
	return nil
}

// isRecord reports whether a file of that name is one of ours: a session's, or an older one of the refusals.
func isRecord(name string) bool {
	return strings.HasSuffix(name, ".jsonl") || strings.HasPrefix(name, refusedFile+".")
}

// orGone forgives a file that somebody else removed meanwhile.
func orGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
