package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"familiar/internal/chat"
	"familiar/internal/memory/index"
	"familiar/internal/sheet"
)

// When a file is indexed, and anew.
const (
	maxTail  = 256 << 10 // bytes that are looked through besides an index; a shorter file needs none
	maxParts = 12        // of an index: each costs a little of every question
	maxLoose = 500       // patches that are read at every start
	maxHeld  = 16 << 20  // bytes of a file that are held in memory; what is longer is read at every look
	maxSure  = 4 << 20   // bytes that are compared at once when somebody else changed the file
)

// job is a file whose index wants work.
type job struct {
	who  who
	kind fileKind
}

// due is what waits for Keep, each file once. Safe for concurrent use.
type due struct {
	mu    *sync.Mutex
	jobs  map[job]bool
	awake chan struct{} // of one: a word that there is something
}

func newDue() due { return due{&sync.Mutex{}, map[job]bool{}, make(chan struct{}, 1)} }

func (d due) add(j job) {
	d.mu.Lock()
	d.jobs[j] = true
	d.mu.Unlock()
	select {
	case d.awake <- struct{}{}:
	default:
	}
}

func (d due) take() (job, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for j := range d.jobs {
		delete(d.jobs, j)
		return j, true
	}
	return job{}, false
}

// Keep builds, mends and compares the index of files that were looked at, until ctx ends. Only one Keep runs. A
// file whose index cannot be built is read instead, and tried again when it is looked at.
func (s *Store) Keep(ctx context.Context) {
	if s.index == nil {
		return
	}
	if err := s.index.Sweep(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("what is left of earlier indexes of memories cannot be taken away", chat.KeyErr, err)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.due.awake:
		}
		if err := s.Settle(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("the index of memories was not built", chat.KeyErr, err)
		}
	}
}

// Settle does now what waits for Keep, which must not run at the same time.
func (s *Store) Settle(ctx context.Context) error {
	var errs []error
	for j, ok := s.due.take(); ok; j, ok = s.due.take() {
		if err := s.tend(ctx, j); err != nil {
			errs = append(errs, fmt.Errorf("index the %s memories of %s on %s: %w", j.kind.visibility(), j.who.id, j.who.platform, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// load reads one of a person's files as far as it is not indexed, and says when its index wants work.
func (s *Store) load(ctx context.Context, p *person, f *file) (changed bool, err error) {
	if f.read && f.held() > s.most { // it grew by what we wrote
		f.read, f.stamp = false, sheet.Stamp{}
	}
	doubted := f.stamp != sheet.Stamp{} // somebody else changed it since it was read
	changed, err = f.load(p.folder, func(f *file, in *os.File, size int64) {
		if s.index != nil && !f.distrusted {
			s.cover(ctx, p, f, opened{in, size, doubted})
		}
		f.far = size-f.from > s.most
	})
	if changed && doubted {
		f.checked = false
	}
	wants := f.far || f.held() > s.tail || f.from > 0 && !f.checked || f.distrusted
	if s.index != nil && err == nil && wants && (changed || f.stamp.Size > f.asked) {
		f.asked = f.stamp.Size
		s.due.add(job{p.who, f.kind})
	}
	return changed, err
}

// opened is a file that was just opened. Doubted means that somebody else changed it since it was read.
type opened struct {
	*os.File
	size    int64
	doubted bool
}

// cover finds out what of a file the index may be asked about. Where anything is wrong that is nothing.
func (s *Store) cover(ctx context.Context, p *person, f *file, in opened) {
	r, err := s.index.Read(ctx, f.key(p.who))
	if r == nil || err != nil {
		return
	}
	defer r.Close() //nolint:errcheck // a reader has nothing to lose
	if !fits(r.Head, in) {
		return
	}
	offsets, err := r.LoosePatches(ctx)
	if err != nil {
		return
	}
	var loose []patch
	for _, offset := range offsets {
		one, err := patchAt(in, offset)
		if err != nil {
			f.distrusted = true
			return
		}
		loose = append(loose, one)
	}
	f.from, f.build, f.loose = r.Covered, r.Build, loose
}

// fits reports whether an index speaks of a file: of the same inode, with the same last line; where the file is in
// doubt and short, with the same bytes.
func fits(h index.Head, in opened) bool {
	info, err := in.Stat()
	if err != nil || sheet.StampOf(info).Inode != h.Inode || in.size < h.Covered {
		return false
	}
	last, err := lastLine(in, h.Covered)
	if err != nil || !bytes.Equal(last, h.Last) {
		return false
	}
	if !in.doubted || h.Covered > maxSure {
		return true
	}
	whole, err := hashOf(in, h.Covered)
	return err == nil && bytes.Equal(whole, h.Whole)
}

// lastLine returns the hash of the line that ends at a byte of a file.
func lastLine(in io.ReaderAt, end int64) ([]byte, error) {
	for size := int64(1 << 10); ; size *= 8 {
		size = min(size, end)
		buf := make([]byte, size)
		if _, err := in.ReadAt(buf, end-size); err != nil || size == 0 || buf[size-1] != '\n' {
			return nil, errors.Join(index.ErrBroken, err)
		}
		begin := bytes.LastIndexByte(buf[:size-1], '\n')
		if begin >= 0 || size == end {
			sum := sha256.Sum256(buf[begin+1:])
			return sum[:], nil
		}
	}
}

// hashOf returns the hash of a file up to a byte.
func hashOf(in io.ReaderAt, end int64) ([]byte, error) {
	sum := sha256.New()
	if n, err := io.Copy(sum, io.NewSectionReader(in, 0, end)); err != nil || n < end {
		return nil, errors.Join(index.ErrBroken, err)
	}
	return sum.Sum(nil), nil
}

// tend does what the index of a file wants: it is compared with the whole file once, and built as far as it is not.
func (s *Store) tend(ctx context.Context, j job) error {
	folder, distrusted, checked := "", false, false
	s.with(j, func(p *person, f *file) { folder, distrusted, checked = p.folder, f.distrusted, f.checked })
	if folder == "" {
		return nil
	}
	in, err := os.Open(filepath.Join(folder, j.kind.name()))
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	b := build{s: s, file: (&file{kind: j.kind}).key(j.who), kind: j.kind, in: opened{in, info.Size(), false}, inode: sheet.StampOf(info).Inode}
	if distrusted {
		if err := s.index.Drop(ctx, b.file); err != nil {
			return err
		}
	} else {
		if err := b.look(ctx, !checked); err != nil {
			return err
		}
	}
	if b.in.size-b.onto.Covered > s.tail {
		if err := b.run(ctx); err != nil {
			return err
		}
	}
	s.with(j, func(p *person, f *file) {
		f.checked = true
		if b.built != 0 || distrusted {
			f.distrusted, f.read, f.stamp = false, false, sheet.Stamp{}
			p.forget()
		}
	})
	return nil
}

// with calls do with a person's file, locked, when that person is held in memory.
func (s *Store) with(j job, do func(*person, *file)) {
	p := s.people.take(chat.Person{Platform: j.who.platform, ID: j.who.id})
	defer s.people.give(p)
	do(p, &p.files[j.kind])
}
