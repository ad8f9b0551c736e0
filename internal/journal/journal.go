// Package journal keeps an append-only file of lines. A line is on the file whole or not at all: an append that
// fails part way is taken back, and a piece that a crash left at the end is closed with a newline before anything
// is added, so that it costs one line and is never glued to the next. Reading passes over what is broken. A
// journal may be shared by the goroutines of one process; one process at a time writes a file.
package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// MaxLine is the longest line, in bytes without its newline, that is written or read: far more than anything
// that we keep, and little enough to hold in memory.
const MaxLine = 1 << 20

var (
	// ErrTooLong refuses a line longer than MaxLine.
	ErrTooLong = errors.New("the line is too long")
	// ErrNotALine refuses a line that is empty or holds a newline.
	ErrNotALine = errors.New("not one line")
)

// Options say how a journal is kept. The zero Options keep one file of any size and never wait for the disk.
type Options struct {
	Sync     bool  // every Append returns only when the line is on the disk (one fsync)
	MaxBytes int64 // an append that would make the file longer than this starts a new one; 0: no limit
	Keep     int   // how many older files to keep then, as path.1 (the newest) … path.N
}

// Journal is an open file of lines. Safe for concurrent use.
type Journal struct {
	path string
	opts Options

	mu   sync.Mutex
	file *os.File
	size int64
	torn bool // the file does not end in a newline
}

// Open opens the journal at path, and makes the file (0600, its directory must be there) when it is missing.
// Nothing is written to a file that is there. The caller closes the journal.
func Open(path string, o Options) (*Journal, error) {
	j := &Journal{path: path, opts: o}
	if err := j.open(); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return j, nil
}

// Path returns the name of the file.
func (j *Journal) Path() string { return j.path }

// Append adds one line. When it returns an error, the line is not in the journal (or, when the disk refuses
// even to shorten the file, lies there as a piece that reading passes over).
func (j *Journal) Append(line []byte) error {
	if err := fits(line); err != nil {
		return fmt.Errorf("append to %s: %w", filepath.Base(j.path), err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.append(line); err != nil {
		return fmt.Errorf("append to %s: %w", filepath.Base(j.path), err)
	}
	return nil
}

// Sync returns when everything that was appended is on the disk.
func (j *Journal) Sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return os.ErrClosed
	}
	return j.file.Sync()
}

// Size returns the length of the present file in bytes.
func (j *Journal) Size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size
}

// Replay reads the present file from its start; see Scan. Lines that are appended meanwhile may be missed.
func (j *Journal) Replay(fn func(line []byte) error) (Stats, error) { return Replay(j.path, fn) }

// Close closes the file. It does not wait for the disk; see Sync.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

func fits(line []byte) error {
	switch {
	case len(line) > MaxLine:
		return ErrTooLong
	case len(line) == 0, bytes.IndexByte(line, '\n') >= 0:
		return ErrNotALine
	}
	return nil
}

// open opens the file and looks at its end.
func (j *Journal) open() error {
	_, missing := os.Lstat(j.path)
	file, err := os.OpenFile(j.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", j.path)
	}
	if err == nil && missing != nil && j.opts.Sync {
		err = syncDir(filepath.Dir(j.path)) // else the file itself could be gone after a power cut
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	j.file, j.size = file, info.Size()
	j.torn = endsTorn(file, j.size)
	return nil
}

func (j *Journal) append(line []byte) error {
	if j.file == nil {
		return os.ErrClosed
	}
	if err := j.look(); err != nil {
		return err
	}
	if j.opts.MaxBytes > 0 && j.size > 0 && j.size+int64(len(line))+1 > j.opts.MaxBytes {
		if err := j.rotate(); err != nil {
			return err
		}
	}
	buf := make([]byte, 0, len(line)+2)
	if j.torn {
		buf = append(buf, '\n')
	}
	buf = append(append(buf, line...), '\n')
	n, err := j.file.Write(buf)
	if err == nil && j.opts.Sync {
		err = j.file.Sync()
	}
	if err != nil {
		return errors.Join(err, j.takeBack(n))
	}
	j.size += int64(n)
	j.torn = false
	return nil
}

// look asks for the end of the file as it is now: another journal of this file, or a person with an editor, may
// have moved it.
func (j *Journal) look() error {
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != j.size {
		j.size = info.Size()
		j.torn = endsTorn(j.file, j.size)
	}
	return nil
}

// takeBack removes n bytes that a failed append left at the end, unless something else stands behind them.
func (j *Journal) takeBack(n int) error {
	info, err := j.file.Stat()
	if err == nil && info.Size() == j.size+int64(n) {
		err = j.file.Truncate(j.size)
	}
	if err != nil {
		j.torn = true
		return fmt.Errorf("take back a piece of a line: %w", err)
	}
	return nil
}

// endsTorn reports whether the last byte of a file is something else than a newline. A file that cannot be read
// counts as torn: an empty line more is harmless.
func endsTorn(file io.ReaderAt, size int64) bool {
	if size == 0 {
		return false
	}
	var last [1]byte
	_, err := file.ReadAt(last[:], size-1)
	return err != nil || last[0] != '\n'
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
