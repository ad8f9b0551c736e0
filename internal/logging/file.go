package logging

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"familiar/internal/journal"
)

// The bounds of the log file: the present one and three older ones.
const (
	maxFile  = 10 << 20 // bytes
	keepFile = 3
)

// File is a log file of bounded size. A full one is put aside as path.1, path.2, …
type File struct{ lines *journal.Journal }

// OpenFile opens a log file to append to, and makes it (0600) and its directory (0700) when they are missing.
func OpenFile(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open log file: %w", err)
	}
	lines, err := journal.Open(path, journal.Options{MaxBytes: maxFile, Keep: keepFile})
	if err != nil {
		return nil, fmt.Errorf("open log file: %w", err)
	}
	return &File{lines}, nil
}

// Write appends one line, which p holds with its newline.
func (f *File) Write(p []byte) (int, error) {
	if err := f.lines.Append(bytes.TrimSuffix(p, []byte{'\n'})); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close closes the file.
func (f *File) Close() error { return f.lines.Close() }
