package memory

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"familiar/internal/journal"
	"familiar/internal/memory/index"
)

// build is one file on its way into the index. Of each memory a few numbers are held, and no text.
type build struct {
	s     *Store
	file  index.File
	kind  fileKind
	in    opened
	inode uint64
	onto  index.Head // what is indexed already and may be kept

	built   int   // how many entries were taken in
	end     int64 // behind the last whole line
	entries []entry
	patches []placed
}

// entry is a memory of the file.
type entry struct {
	offset, at, name                int64
	high, disabled, hidden, patched bool
}

// placed is a patch and where it lies.
type placed struct {
	patch
	offset int64
}

// look finds out what of the index may be kept; with whole it compares every byte that is indexed.
func (b *build) look(ctx context.Context, whole bool) error {
	r, err := b.s.index.Read(ctx, b.file)
	if r == nil || err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // a reader has nothing to lose
	good := fits(r.Head, b.in)
	if good && whole {
		sum, err := hashOf(b.in, r.Covered)
		if err != nil {
			return err
		}
		good = bytes.Equal(sum, r.Whole)
	}
	if good {
		b.onto = r.Head
	}
	if r.Parts() >= maxParts || r.Loose > maxLoose {
		b.onto = index.Head{}
	}
	return nil
}

// run takes in what is not indexed; everything where that does not go behind what is.
func (b *build) run(ctx context.Context) error {
	if err := b.scan(ctx, b.onto.Covered); err != nil {
		return err
	}
	if b.onto.Build != 0 {
		behind, err := b.behind(ctx)
		if err != nil {
			return err
		}
		if !behind {
			b.onto = index.Head{}
			if err := b.scan(ctx, 0); err != nil {
				return err
			}
		}
	}
	if b.end == 0 {
		return nil
	}
	head := index.Head{Inode: b.inode, Covered: b.end}
	var err error
	if head.Last, err = lastLine(b.in, b.end); err != nil {
		return err
	}
	if head.Whole, err = hashOf(b.in, b.end); err != nil {
		return err
	}
	b.order()
	b.built = len(b.entries) + len(b.patches)
	return b.s.index.Build(ctx, b.file, b.onto, index.Part{Head: head, Docs: b.docs(), Patches: b.tie()})
}

// scan reads where memories and patches lie from a byte on.
func (b *build) scan(ctx context.Context, from int64) error {
	b.end, b.entries, b.patches = from, nil, nil
	in := bufio.NewReaderSize(io.NewSectionReader(b.in, from, b.in.size-from), 64<<10)
	var long []byte
	for offset := from; ; {
		piece, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if len(long) <= journal.MaxLine { // of a longer line no more is needed than that it is too long
				long = append(long, piece...)
			}
			offset += int64(len(piece))
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = ctx.Err() // what has no end yet is not taken in
			}
			return err
		}
		begin := b.end
		offset += int64(len(piece))
		if len(long) > 0 {
			piece = append(long, piece...)
		}
		b.end = offset
		b.note(tidy(piece[:len(piece)-1], begin), begin)
		long = long[:0]
	}
}

// note takes in one line. A line that means nothing, or whose reading must not depend on where reading began, is
// passed over, as everywhere.
func (b *build) note(raw []byte, offset int64) {
	if len(raw) > journal.MaxLine || len(bytes.TrimSpace(raw)) == 0 || bytes.IndexByte(raw, 0) >= 0 {
		return
	}
	var one parsed
	if one.add(raw, b.kind) != nil {
		return
	}
	for _, m := range one.memories {
		e := entry{offset: offset, at: m.At.UnixMilli(), name: index.Name(m.ID)}
		e.state(m)
		b.entries = append(b.entries, e)
	}
	for _, p := range one.patches {
		b.patches = append(b.patches, placed{p, offset})
	}
}

func (e *entry) state(m Memory) {
	e.high, e.disabled, e.hidden = m.Importance == High, !m.Enabled, m.Visibility != Public
}

// behind reports whether everything that was scanned is later than what is indexed, and of other ids.
func (b *build) behind(ctx context.Context) (bool, error) {
	names := make([]int64, len(b.entries))
	for i, e := range b.entries {
		if names[i] = e.name; e.at < b.onto.Newest {
			return false, nil
		}
	}
	r, err := b.s.index.Read(ctx, b.file)
	if r == nil || err != nil {
		return false, err
	}
	defer r.Close() //nolint:errcheck // a reader has nothing to lose
	twice, err := r.Named(ctx, names)
	return r.Build == b.onto.Build && len(twice) == 0, err
}

// order sorts the entries by their times and drops the later ones of an id.
func (b *build) order() {
	older := func(a, c entry) int { return int(a.at - c.at) }
	if !slices.IsSortedFunc(b.entries, older) {
		slices.SortStableFunc(b.entries, older)
	}
	names := make([]int64, len(b.entries))
	for i, e := range b.entries {
		names[i] = e.name
	}
	slices.Sort(names)
	if len(slices.Compact(names)) == len(b.entries) {
		return
	}
	seen := make(map[int64]bool, len(b.entries))
	b.entries = slices.DeleteFunc(b.entries, func(e entry) bool {
		was := seen[e.name]
		seen[e.name] = true
		return was
	})
}

// tie applies the patches to the entries among which their targets are, and says which have none.
func (b *build) tie() []index.Patch {
	targets := make(map[int64][]patch, len(b.patches))
	for _, p := range b.patches {
		name := index.Name(p.target)
		targets[name] = append(targets[name], p.patch)
	}
	found := make(map[int64]bool, len(targets))
	for i := range b.entries {
		e := &b.entries[i]
		if patches := targets[e.name]; patches != nil && len(targets) > 0 {
			found[e.name], e.patched = true, true
			m := Memory{ID: "x", Enabled: !e.disabled, Visibility: Public, Importance: Normal}
			if e.hidden {
				m.Visibility = Private
			}
			if e.high {
				m.Importance = High
			}
			for j := range patches {
				patches[j].target = m.ID
			}
			e.state(resolve(parsed{[]Memory{m}, patches})[0])
		}
	}
	all := make([]index.Patch, len(b.patches))
	for i, p := range b.patches {
		name := index.Name(p.target)
		all[i] = index.Patch{Name: name, Offset: p.offset, Loose: !found[name]}
	}
	return all
}

// docs reads the texts of the entries again, one by one.
func (b *build) docs() iter.Seq2[index.Doc, error] {
	return func(yield func(index.Doc, error) bool) {
		in := &window{in: b.in}
		for _, e := range b.entries {
			m, err := memoryAt(in, e.offset, b.kind)
			if err == nil && index.Name(m.ID) != e.name {
				err = fmt.Errorf("%w: the file was changed meanwhile", index.ErrBroken)
			}
			doc := index.Doc{Offset: e.offset, At: e.at, Name: e.name, High: e.high, Disabled: e.disabled,
				Hidden: e.hidden, Text: strings.ToLower(m.Content)}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

// window reads a file from its beginning to its end in large pieces.
type window struct {
	in   io.ReaderAt
	at   int64
	held []byte
	buf  [256 << 10]byte
}

// ReadAt implements io.ReaderAt.
func (w *window) ReadAt(p []byte, at int64) (int, error) {
	if at < w.at || at+int64(len(p)) > w.at+int64(len(w.held)) {
		if len(p) > len(w.buf) {
			return w.in.ReadAt(p, at)
		}
		n, err := w.in.ReadAt(w.buf[:], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		w.at, w.held = at, w.buf[:n]
	}
	n := copy(p, w.held[at-w.at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
