package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"familiar/internal/journal"
	"familiar/internal/memory/index"
)

// shelf is the part of one file that is not held in memory, as a view sees it: what is indexed, or what is read at
// every look.
type shelf struct {
	kind    fileKind
	build   int64 // of the index
	from    int64 // where the indexed part ends
	private bool
	extra   map[string][]patch // patches from elsewhere, by target; in the order of their times
}

// errMoved says that the index is not the one that the view was made with: look again.
var errMoved = errors.New("the index was built anew meanwhile")

func (f *file) key(of who) index.File {
	return index.File{Platform: of.platform, Person: of.id, Name: string(f.kind.visibility())}
}

// open returns the index and the file that it speaks of.
func (s shelf) open(ctx context.Context, x *index.Index, p *person) (*index.Reader, *os.File, error) {
	r, err := x.Read(ctx, p.files[s.kind].key(p.who))
	if err != nil {
		return nil, nil, err
	}
	if r == nil || r.Build != s.build || r.Covered != s.from {
		return nil, nil, errors.Join(errMoved, r.Close())
	}
	in, err := os.Open(filepath.Join(p.folder, s.kind.name()))
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return r, in, nil
}

// search returns the best hits of a query among what is indexed: most of them at the most.
func (s shelf) search(ctx context.Context, x *index.Index, p *person, q query, most int) ([]hit, error) {
	r, in, err := s.open(ctx, x, p)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	defer r.Close() //nolint:errcheck // a reader has nothing to lose
	ask := index.Question{Words: q.words, High: q.Importance == High, Hidden: s.private,
		Since: millis(q.Since)}
	if !q.Until.IsZero() {
		ask.Until = q.Until.UnixMilli() + 1
	}
	if ask.Force, err = s.force(ctx, r); err != nil {
		return nil, err
	}
	ask.Most = most
	if len(q.words) > 0 {
		ask.Most = min(2*most+20, math.MaxInt32)
	}
	for ; ; ask.Most *= 4 {
		asked, more, err := r.Ask(ctx, ask)
		if err != nil {
			return nil, err
		}
		found, settled, err := s.read(ctx, reading{r, in, q}, asked, most)
		if err != nil || settled || !more {
			return found, err
		}
	}
}

// millis returns a bound for the index, which knows milliseconds; what it names is looked at again.
func millis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// force returns the places of entries that patches from elsewhere change.
func (s shelf) force(ctx context.Context, r *index.Reader) (places []int, err error) {
	var names []int64
	for id := range s.extra {
		names = append(names, index.Name(id))
	}
	entries, err := r.Named(ctx, names)
	for _, e := range entries {
		places = append(places, e.Place)
	}
	return places, err
}

// reading is what entries are read with.
type reading struct {
	r  *index.Reader
	in *os.File
	q  query
}

// atOnce is how many entries are read at once.
const atOnce = 64

// read looks at the entries that may be answers, in their order, until the most best are known. settled says that
// no entry behind asked can be better than those returned.
func (s shelf) read(ctx context.Context, from reading, asked []index.Hit, most int) (found []hit, settled bool, err error) {
	for some := range slices.Chunk(asked, atOnce) {
		if len(found) >= most {
			next := hit{score: some[0].Score, place: some[0].Place}
			if bound := found[most-1]; bound.score > next.score || bound.score == next.score && bound.place > next.place {
				return found[:most], true, nil
			}
		}
		places := make([]int, len(some))
		for i, one := range some {
			places[i] = one.Place
		}
		got, err := s.resolve(ctx, from, places)
		if err != nil {
			return nil, false, err
		}
		for _, h := range got {
			if h.score = score(strings.ToLower(h.Content), from.q.words); h.score > 0 || len(from.q.words) == 0 {
				found = append(found, h)
			}
		}
		slices.SortFunc(found, func(a, b hit) int {
			if a.score != b.score {
				return b.score - a.score
			}
			return b.place - a.place
		})
	}
	if len(found) < most || len(asked) == 0 {
		return found, false, nil
	}
	last, bound := asked[len(asked)-1], found[most-1]
	settled = bound.score > last.Score || bound.score == last.Score && bound.place >= last.Place
	return found[:most], settled, nil
}

// resolve reads the memories at places and applies what patches say; those that q does not take are left out.
func (s shelf) resolve(ctx context.Context, from reading, places []int) ([]hit, error) {
	entries, err := from.r.Entries(ctx, places)
	if err != nil {
		return nil, err
	}
	if len(entries) != len(places) {
		return nil, index.ErrBroken
	}
	return s.resolved(ctx, from, entries)
}

func (s shelf) resolved(ctx context.Context, from reading, entries []index.Entry) (hits []hit, err error) {
	slices.SortFunc(entries, func(a, b index.Entry) int { return int(a.Offset - b.Offset) })
	names := make([]int64, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	tied, err := from.r.Tied(ctx, names)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		m, err := memoryAt(from.in, e.Offset, s.kind)
		if err != nil || index.Name(m.ID) != e.Name {
			return nil, fmt.Errorf("%w: no such memory at byte %d", index.ErrBroken, e.Offset)
		}
		all := parsed{memories: []Memory{m}}
		for _, offset := range tied[e.Name] {
			one, err := patchAt(from.in, offset)
			if err != nil {
				return nil, err
			}
			all.patches = append(all.patches, one)
		}
		all.patches = append(all.patches, s.extra[m.ID]...)
		m = resolve(all)[0]
		if (s.private || m.Visibility == Public) && from.q.takes(&m) {
			hits = append(hits, hit{Memory: m, place: e.Place})
		}
	}
	return hits, nil
}

// find returns the memory of an id.
func (s shelf) find(ctx context.Context, x *index.Index, p *person, id string) (Memory, bool, error) {
	r, in, err := s.open(ctx, x, p)
	if err != nil {
		return Memory{}, false, err
	}
	defer in.Close()
	defer r.Close() //nolint:errcheck // a reader has nothing to lose
	entries, err := r.Named(ctx, []int64{index.Name(id)})
	if err != nil {
		return Memory{}, false, err
	}
	hits, err := s.resolved(ctx, reading{r, in, query{all: true}}, entries)
	for _, h := range hits {
		if h.ID == id {
			return h.Memory, true, err
		}
	}
	return Memory{}, false, err
}

// lineAt reads the line that begins at a byte of a file.
func lineAt(in io.ReaderAt, offset int64) ([]byte, error) {
	for size := 1 << 10; ; size *= 8 {
		buf := make([]byte, size)
		n, err := in.ReadAt(buf, offset)
		if end := bytes.IndexByte(buf[:n], '\n'); end >= 0 {
			return tidy(buf[:end], offset), nil
		}
		if err != nil || size > 8*journal.MaxLine {
			return nil, fmt.Errorf("%w: no line at byte %d", index.ErrBroken, offset)
		}
	}
}

// tidy drops what may stand around a line: see journal.Scan.
func tidy(raw []byte, offset int64) []byte {
	if offset == 0 {
		raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	}
	return bytes.TrimRight(bytes.TrimLeft(raw, "\x00"), "\r")
}

func memoryAt(in io.ReaderAt, offset int64, kind fileKind) (Memory, error) {
	one, err := parsedAt(in, offset, kind)
	if err != nil || len(one.memories) != 1 {
		return Memory{}, errors.Join(index.ErrBroken, err)
	}
	return one.memories[0], nil
}

func patchAt(in io.ReaderAt, offset int64) (patch, error) {
	one, err := parsedAt(in, offset, publicFile)
	if err != nil || len(one.patches) != 1 {
		return patch{}, errors.Join(index.ErrBroken, err)
	}
	return one.patches[0], nil
}

func parsedAt(in io.ReaderAt, offset int64, kind fileKind) (one parsed, err error) {
	raw, err := lineAt(in, offset)
	if err != nil {
		return one, err
	}
	return one, one.add(raw, kind)
}

// extras returns the patches that may change entries of an index: those that are held, by target.
func extras(files []file) map[string][]patch {
	all := map[string][]patch{}
	for _, f := range files {
		for _, p := range slices.Concat(f.loose, f.lines.patches) {
			all[p.target] = append(all[p.target], p)
		}
	}
	for target := range maps.Keys(all) {
		slices.SortStableFunc(all[target], func(a, b patch) int { return a.at.Compare(b.at) })
	}
	return all
}
