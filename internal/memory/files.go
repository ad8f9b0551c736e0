package memory

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"familiar/internal/journal"
	"familiar/internal/sheet"
)

// fileKind says which of a person's two files.
type fileKind int

const (
	publicFile fileKind = iota
	privateFile
)

func (k fileKind) visibility() Visibility {
	if k == publicFile {
		return Public
	}
	return Private
}

func (k fileKind) name() string { return "memory." + string(k.visibility()) + ".jsonl" }

// usualLine is about how many bytes a memory takes in a file: a guess that saves growing a list step by step.
const usualLine = 200

// file is one of the two files, and what was read of it: all of it, or what stands behind the part that is in the
// index.
type file struct {
	kind    fileKind
	read    bool
	stamp   sheet.Stamp
	lines   parsed
	skipped int

	far        bool    // what stands behind from is too long to be held: lines has patches alone
	from       int64   // where reading began: what stands before is in the index
	build      int64   // the index of it
	loose      []patch // patches before from that change memories elsewhere
	checked    bool    // all of what is indexed was compared since the program began
	asked      int64   // how long the file was when its index was last asked for
	distrusted bool    // the index gave a wrong answer, and is not used until it is built anew
}

// letGo drops the memories of a file that is too long to be held.
func (f *file) letGo() {
	if f.far {
		f.lines.memories = nil
	}
}

// held is how many bytes of the file are held in memory, as they lie on the disk.
func (f *file) held() int64 {
	if f.far {
		return 0
	}
	return f.stamp.Size - f.from
}

// load reads the file when it is not as it was when last read, and reports whether it did. A missing file is
// an empty one.
func (f *file) load(folder string, covered func(f *file, in *os.File, size int64)) (changed bool, err error) {
	path := filepath.Join(folder, f.kind.name())
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		changed = f.read && f.stamp != sheet.Stamp{}
		*f = file{kind: f.kind, read: true}
		return changed, nil
	}
	if err != nil {
		return false, err
	}
	if f.read && f.stamp == sheet.StampOf(info) {
		return false, nil
	}
	return true, f.parse(path, covered)
}

// parse reads the file behind what covered says is in the index. The stamp is that of the opened file before
// reading, so that whatever is added meanwhile is noticed next time.
func (f *file) parse(path string, covered func(f *file, in *os.File, size int64)) error {
	f.read = false
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	f.from, f.build, f.loose, f.far = 0, 0, nil, false
	covered(f, in, info.Size())
	var lines parsed
	if !f.far {
		lines.memories = make([]Memory, 0, (info.Size()-f.from)/usualLine)
	}
	stats, err := journal.Scan(io.NewSectionReader(in, f.from, math.MaxInt64-f.from), func(raw []byte) error {
		if f.far {
			lines.memories = lines.memories[:0]
		}
		return lines.add(raw, f.kind)
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", f.kind.name(), err)
	}
	f.read, f.stamp, f.lines, f.skipped = true, sheet.StampOf(info), lines, stats.Skipped
	f.letGo()
	return nil
}

// append writes one line, on the disk when it returns. When nobody else changed the file since it was read, the
// line is taken in directly, so that a long file is not read again for every line of ours.
func (f *file) append(folder string, raw []byte) error {
	path := filepath.Join(folder, f.kind.name())
	out, err := journal.Open(path, journal.Options{Sync: true})
	if err != nil {
		return err
	}
	before, statErr := os.Stat(path)
	err = out.Append(raw)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	after, afterErr := os.Stat(path)
	ours := f.read && statErr == nil && afterErr == nil && sheet.StampOf(before) == f.stamp &&
		sheet.StampOf(after).Inode == f.stamp.Inode && after.Size() == before.Size()+int64(len(raw))+1
	if !ours || f.lines.add(raw, f.kind) != nil {
		f.read = false
		return nil
	}
	f.stamp = sheet.StampOf(after)
	f.letGo()
	return nil
}

// ensure makes the two files, empty, where they are missing. A file that is there is not opened.
func ensure(folder string) error {
	made := false
	for _, kind := range []fileKind{publicFile, privateFile} {
		out, err := os.OpenFile(filepath.Join(folder, kind.name()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		made = true
		if err := out.Close(); err != nil {
			return err
		}
	}
	if !made {
		return nil
	}
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
