// Package sheet writes files that are there whole or not at all, and tells one state of a file from another.
package sheet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Write puts text into the file at path, mode 0600, in place of what it held; its folder must be there. A reader sees the
// old text or the new, also after a power cut. When it fails, the old one stands and nothing is left beside it.
func Write(path string, text []byte) error {
	fresh, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = fresh.Write(text)
	if err = errors.Join(err, fresh.Sync(), fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	return Flush(filepath.Dir(path))
}

// Flush lets the names in a folder survive a power cut.
func Flush(dir string) error {
	at, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return errors.Join(at.Sync(), at.Close())
}

// Stamp tells one state of a file from another without reading it.
type Stamp struct {
	Size  int64
	MTime time.Time
	Inode uint64
}

// StampOf returns the stamp of a file.
func StampOf(info fs.FileInfo) Stamp {
	s := Stamp{Size: info.Size(), MTime: info.ModTime()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Inode = sys.Ino
	}
	return s
}
