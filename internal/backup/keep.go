package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"familiar/internal/sheet"
)

// mostFile bounds a file of a copy, in bytes: hosts of repositories refuse every push that holds a larger one, GitHub from
// this size on.
const mostFile = 100 << 20

// errTooLarge says that a file is larger than mostFile.
var errTooLarge = fmt.Errorf("it is larger than %d MiB, which hosts of repositories refuse", mostFile>>20)

// lack is what a copy does not hold although it should.
type lack struct {
	files int
	first string // one of them
	why   error
}

// err is what is told of it; nil when nothing is missing.
func (l lack) err() error {
	if l.files == 0 {
		return nil
	}
	return fmt.Errorf("the copy was made, but lacks %d files or folders, %q among them: %w", l.files, l.first, l.why)
}

// missed notes what the copy lacks because it may not be read, is too large or lies too deep. What went away meanwhile is no
// lack; any other error is one of the disk, and no copy is made of what is left then.
func (b *Backup) missed(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case path == b.dir:
		return err
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, errTooLarge):
	default:
		return err
	}
	if b.lacks.files++; b.lacks.files == 1 {
		name, _ := filepath.Rel(b.dir, path)
		b.lacks.first, b.lacks.why = name, err
	}
	return nil
}

// keep reads files into the repository. We open them ourselves: a name may be anything, and what it stands for may have
// become a link to elsewhere by now. A file that is gone or another one by now is left for the next copy.
func (b *Backup) keep(ctx context.Context, files map[string]blob, names []string) error {
	if len(names) == 0 {
		return nil
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	input, to := io.Pipe()
	type result struct {
		kept []string
		err  error
	}
	fed := make(chan result, 1)
	go func() {
		kept, err := b.feed(to, root, files, names)
		to.CloseWithError(err)
		fed <- result{kept, err}
	}()
	out, err := b.git.run(ctx, call{args: []string{"fast-import", "--quiet", "--done"}, input: input})
	_ = input.Close() // git may have ended before it read everything
	read := <-fed
	if read.err != nil && !errors.Is(read.err, io.ErrClosedPipe) {
		return read.err
	}
	if err != nil {
		return err
	}
	hashes := strings.Fields(out)
	if len(hashes) != len(read.kept) {
		return errors.New("git fast-import: it answered for another number of files")
	}
	for i, name := range read.kept {
		f := files[name]
		f.hash = hashes[i]
		files[name] = f
	}
	return nil
}

// feed writes files as git fast-import reads them, and returns those that it wrote whole, in order. The others are taken out
// of files.
func (b *Backup) feed(to io.Writer, root *os.Root, files map[string]blob, names []string) (kept []string, err error) {
	for i, name := range names {
		f, whole, err := b.feedOne(to, root, name, i+1)
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", name, err)
		}
		if !whole {
			delete(files, name)
			continue
		}
		if _, err := fmt.Fprintf(to, "get-mark :%d\n", i+1); err != nil {
			return nil, err
		}
		files[name] = f
		kept = append(kept, name)
	}
	_, err = io.WriteString(to, "done\n")
	return kept, err
}

// heldFile is the size in bytes up to which a file is held in memory before git is told how long it is, so that one that
// changes meanwhile is read whole.
const heldFile = 1 << 20

// feedOne writes one file. It is not whole where it is gone, is no file any more, or became shorter while it was read.
func (b *Backup) feedOne(to io.Writer, root *os.Root, name string, mark int) (f blob, whole bool, err error) {
	file, err := openFile(root, name)
	if err != nil || file == nil {
		return f, false, b.missed(filepath.Join(b.dir, name), err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, false, err
	}
	if info.Size() > mostFile {
		return f, false, b.missed(filepath.Join(b.dir, name), errTooLarge)
	}
	var text io.Reader = file
	size := info.Size()
	if size <= heldFile {
		held, err := io.ReadAll(io.LimitReader(file, mostFile))
		if err != nil {
			return f, false, err
		}
		text, size = bytes.NewReader(held), int64(len(held))
	}
	if _, err := fmt.Fprintf(to, "blob\nmark :%d\ndata %d\n", mark, size); err != nil {
		return f, false, err
	}
	n, err := io.CopyN(to, text, size)
	if whole = err == nil; errors.Is(err, io.EOF) {
		_, err = io.CopyN(to, zeros{}, size-n) // git waits for as much as it was told
	}
	if err == nil {
		_, err = io.WriteString(to, "\n")
	}
	return blob{stamp: sheet.StampOf(info), mode: modeOf(info)}, whole, err
}

// openFile opens a file below root, and no link to one: nil when it is gone or has become something else.
func openFile(root *os.Root, name string) (*os.File, error) {
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would wait for whoever writes
	var no syscall.Errno
	if err != nil && (!errors.As(err, &no) || no == syscall.ENOENT || no == syscall.ENOTDIR || no == syscall.ELOOP) {
		return nil, nil // what is no word of the system is that of root: it leads out of the folder now
	}
	return file, err
}

// zeros is a text without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
