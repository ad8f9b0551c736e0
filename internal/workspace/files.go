package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ErrRefused says that an agent may not have a file; the error around it says why.
var ErrRefused = errors.New("refused")

// MaxFile is the largest file that an agent reads or writes through us, in bytes.
const MaxFile = 16 << 20

// Rules are what a session may do with files through us. The zero Rules let it read, and write only below its
// temporary folder.
type Rules struct {
	Yolo            bool     // any ending, and the agent workspace too; still nothing outside
	WriteExtensions []string // endings that may be written, with the dot
}

// readExtensions are the endings that may be read.
var readExtensions = []string{".jsonl", ".md", ".txt"}

// ours are files that only we write, wherever they lie.
var ours = []string{"memory.public.jsonl", "memory.private.jsonl", "reminders.jsonl"}

// area is a folder that an agent reaches through us.
type area int

const (
	inWork area = iota
	inTmp
	inNotes
)

// ReadFile reads a file for the agent. A relative path counts from where the agent stands. Files outside the
// session's own folders and the agent workspace are refused, also through links.
func (s *Stand) ReadFile(path string, r Rules) ([]byte, error) {
	_, dir, name, err := s.find(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !r.Yolo && !slices.Contains(readExtensions, extension(name)) {
		return nil, fmt.Errorf("read %s: %w: only %s can be read", path, ErrRefused, strings.Join(readExtensions, " "))
	}
	content, err := readIn(dir, name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return content, nil
}

// WriteFile writes a whole file for the agent, and the folders on the way. Besides what ReadFile refuses, it
// refuses endings that are not listed (below the temporary folder every ending may be written), the agent
// workspace unless the session may write there, and memories and reminders always.
func (s *Stand) WriteFile(path string, content []byte, r Rules) error {
	where, dir, name, err := s.find(path)
	if err == nil {
		err = s.mayWrite(where, name, len(content), r)
	}
	if err == nil {
		err = writeIn(dir, name, content)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func (s *Stand) mayWrite(where area, name string, size int, r Rules) error {
	switch {
	case slices.Contains(ours, strings.ToLower(filepath.Base(name))):
		return fmt.Errorf("%w: memories and reminders are written by their skills only", ErrRefused)
	case size > MaxFile:
		return fmt.Errorf("%w: more than %d MiB", ErrRefused, MaxFile>>20)
	case r.Yolo || where == inTmp:
		return nil
	case where == inNotes && !s.Ref.Notes:
		return fmt.Errorf("%w: this session may not write the agent workspace", ErrRefused)
	case !slices.Contains(r.WriteExtensions, extension(name)):
		return fmt.Errorf("%w: only %s can be written", ErrRefused, strings.Join(r.WriteExtensions, " "))
	}
	return nil
}

// extension is what tells the kind of a file, in lower case.
func extension(name string) string { return strings.ToLower(filepath.Ext(name)) }

// find tells in which of the agent's folders a path is, and its name there.
func (s *Stand) find(path string) (where area, dir, name string, err error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return 0, "", "", fmt.Errorf("%w: not a path", ErrRefused)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Work, path)
	}
	path = filepath.Clean(path)
	for where, dir := range []string{s.Work, s.Tmp, s.Notes} { // in the order of area
		if name, err := filepath.Rel(dir, path); err == nil && name != "." && filepath.IsLocal(name) {
			return area(where), dir, name, nil
		}
	}
	return 0, "", "", fmt.Errorf("%w: outside of the workspace", ErrRefused)
}

// readIn reads a plain file below dir. The system keeps the way inside, whatever links stand on it.
func readIn(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Without blocking: an agent may have made a pipe that nobody writes.
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, outside(err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: not a plain file", ErrRefused)
	}
	content, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err == nil && len(content) > MaxFile {
		err = fmt.Errorf("%w: more than %d MiB", ErrRefused, MaxFile>>20)
	}
	return content, err
}

// writeIn writes a whole file below dir, or none. What stands at its place is replaced, not followed.
func writeIn(dir, name string, content []byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return outside(err)
	}
	fresh := filepath.Join(filepath.Dir(name), ".new-"+strconv.FormatUint(rand.Uint64(), 36))
	file, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return outside(err)
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = root.Rename(fresh, name)
	}
	if err != nil {
		_ = root.Remove(fresh)
	}
	return outside(err)
}

// outside makes a refusal of an error that a link out of the folder gives; others stay what they are.
func outside(err error) error {
	var at *os.PathError
	if !errors.As(err, &at) {
		return err
	}
	var no syscall.Errno
	if !errors.As(at.Err, &no) && !errors.Is(at.Err, fs.ErrNotExist) && !errors.Is(at.Err, fs.ErrExist) {
		return fmt.Errorf("%w: a link leads out of the workspace", ErrRefused)
	}
	return at.Err
}
