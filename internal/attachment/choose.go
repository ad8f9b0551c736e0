package attachment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

// mostBytes bounds what one call copies where the operator set no limit, in bytes.
const mostBytes = 1 << 30

// candidate is a file that may go: open, so that it stays the one that was judged.
type candidate struct {
	name string // as the agent named it
	file *os.File
	size int64
}

type candidates []candidate

func (c candidates) close() {
	for _, one := range c {
		_ = one.file.Close() // it was only read
	}
}

// refused says why nothing is sent.
func refused(format string, args ...any) error {
	return tool.Bad("filePaths: "+format+"; nothing was sent", args...)
}

// choose opens the files that paths name, and refuses all of them when one may not go. No byte is read.
func (k *Kit) choose(folders, paths []string) (_ candidates, err error) {
	if len(paths) == 0 {
		return nil, tool.Bad("filePaths: name at least one file of your workspace")
	}
	if len(paths) > k.cfg.MaxFilesPerInvocation {
		return nil, refused("%d files are more than the %d that may go at once", len(paths), k.cfg.MaxFilesPerInvocation)
	}
	var chosen candidates
	defer func() {
		if err != nil {
			chosen.close()
		}
	}()
	total, most := int64(0), bytesOf(k.cfg.MaxTotalSizeMB)
	for _, path := range paths {
		if !k.mayEnd(path) {
			return nil, refused("%s does not end in one of %s", shown(path), strings.Join(k.cfg.AllowedExtensions, " "))
		}
		one, err := find(folders, path)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, one)
		if limit := bytesOf(k.cfg.MaxFileSizeMB); one.size > limit {
			return nil, refused("%s has %d bytes, and a file may have %d", shown(path), one.size, limit)
		}
		if total += one.size; total > most {
			return nil, refused("the files have more than %d bytes together", most)
		}
	}
	return chosen, nil
}

// bytesOf is a size of the settings, where 0 sets no limit, as one that is not reached by accident.
func bytesOf(mb float64) int64 {
	if mb == 0 {
		return mostBytes
	}
	return int64(math.Min(mb*(1<<20), mostBytes))
}

func (k *Kit) mayEnd(path string) bool {
	return len(k.cfg.AllowedExtensions) == 0 || slices.Contains(k.cfg.AllowedExtensions, strings.ToLower(filepath.Ext(path)))
}

// find opens the file of a path: a plain file, by a way that stays within one of the folders.
func find(folders []string, path string) (candidate, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return candidate{}, refused("%q is not a path", path)
	}
	if slices.Contains(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), "..") {
		return candidate{}, refused("%s has .. in it; name the file without", shown(path))
	}
	whole := path
	if !filepath.IsAbs(whole) {
		whole = filepath.Join(folders[0], whole)
	}
	for _, dir := range folders {
		name, err := filepath.Rel(dir, whole)
		if err != nil || name == "." || !filepath.IsLocal(name) {
			continue
		}
		file, size, err := openIn(dir, name)
		if err != nil {
			return candidate{}, refused("%s %s", shown(path), why(err))
		}
		return candidate{filepath.Base(whole), file, size}, nil
	}
	return candidate{}, refused("%s is not inside your workspace", shown(path))
}

var (
	errNotPlain = errors.New("is not a plain file")
	errSwapped  = errors.New("was exchanged meanwhile")
)

// openIn opens a plain file below dir. The system keeps the way inside, whatever links stand on it; the file itself is
// no link, and nothing that would keep a reader waiting.
func openIn(dir, name string) (_ *os.File, _ int64, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }()
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, 0, err
	}
	if !seen.Mode().IsRegular() {
		return nil, 0, errNotPlain
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(seen, info) {
		err = errSwapped
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// why is what an agent is told of a file that could not be opened.
func why(err error) string {
	switch {
	case errors.Is(err, errNotPlain), errors.Is(err, errSwapped):
		return err.Error()
	case errors.Is(err, fs.ErrNotExist):
		return "is not there"
	case errors.Is(err, fs.ErrPermission):
		return "may not be read"
	}
	return "leads out of your workspace, or cannot be opened"
}

// shown is a path as it is told back to whoever named it.
func shown(path string) string {
	const most = 200
	if runes := []rune(strings.ToValidUTF8(path, "?")); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return path
}

// copyTo copies the files into dir, each no longer than it was when it was judged.
func (c candidates) copyTo(ctx context.Context, dir string) ([]chat.File, error) {
	var files []chat.File
	for i, one := range c {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		path := filepath.Join(dir, fmt.Sprint(i))
		size, err := one.copyTo(path)
		if err != nil {
			return nil, fmt.Errorf("copy a file: %w", err)
		}
		if size > one.size {
			return nil, refused("%s grew while it was read; send it when it is finished", shown(one.name))
		}
		files = append(files, chat.File{Path: path, Name: one.name, MIME: kindOf(path, one.name), Size: size})
	}
	return files, nil
}

func (c candidate) copyTo(path string) (size int64, err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return io.Copy(out, io.LimitReader(c.file, c.size+1))
}
