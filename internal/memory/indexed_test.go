package memory

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/memory/index"
	"familiar/internal/sqlite"
)

// indexed gives a rig a store with an index that is used for files longer than tail.
func (r *rig) indexed(tail int64) *sqlite.DB {
	r.t.Helper()
	db, err := sqlite.Open(r.t.Context(), filepath.Join(r.t.TempDir(), "a.db"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = db.Close() })
	r.again(db, tail)
	return db
}

// again opens the store anew, as a start does.
func (r *rig) again(db *sqlite.DB, tail int64) {
	r.t.Helper()
	x, err := index.Open(r.t.Context(), db)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Store = Open(Defaults(), r.folder, x, slog.New(slog.NewTextHandler(r.logs, nil)))
	r.tail, r.most, r.cfg.Load().MaxChars = tail, tail+200, 1<<20
}

// tendAll does what waits for Keep.
func (r *rig) tendAll() {
	r.t.Helper()
	if err := r.Settle(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// covered says how many bytes of a file are found by the index.
func (r *rig) covered(kind fileKind) (n int64) {
	r.with(job{who{ann.Platform, ann.ID}, kind}, func(_ *person, f *file) { n = f.from })
	return n
}

// isFar says whether a part of a file is neither indexed nor held.
func (r *rig) isFar(kind fileKind) (far bool) {
	r.with(job{who{ann.Platform, ann.ID}, kind}, func(_ *person, f *file) { far = f.far })
	return far
}

// random makes memories whose words come again and again, in several scripts.
type random struct{ *rand.Rand }

var someWords = []string{"tea", "Tea", "steak", "train", "rain", "C++", "go", "a", "烏龍茶", "烏龍", "龍井", "茶", "阿里山", "カメラ", "한국어",
	"🙂", "x\x00y", "İstanbul", "straße", "ab\tcd", "2024", "(beta)", "\"said\"", "é", "e\u0301"}

func (r random) text() string {
	var words []string
	for range 1 + r.IntN(6) {
		words = append(words, someWords[r.IntN(len(someWords))])
	}
	return strings.Join(words, []string{" ", "", "  "}[r.IntN(3)])
}

func (r random) query() string {
	text := r.text()
	if runes := []rune(text); r.IntN(2) == 0 {
		from := r.IntN(len(runes))
		text = string(runes[from : from+1+r.IntN(min(4, len(runes)-from))])
	}
	if r.IntN(4) == 0 {
		text = `"` + text + `"`
	}
	return text
}

// The index says what reading everything says, whatever was saved, patched and written by hand, in private and not.
func TestTheIndexSaysWhatReadingSays(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r, dice := newRig(t), random{rand.New(rand.NewPCG(seed, 1))}
			db := r.indexed(600)
			used, far := false, false
			for step := range 60 {
				r.step(dice)
				if dice.IntN(6) == 0 {
					r.tendAll()
				}
				if dice.IntN(20) == 0 {
					r.again(db, 600)
				}
				plain := Open(*r.cfg.Load(), r.folder, nil, slog.New(slog.DiscardHandler))
				for range 3 {
					r.same(plain, dice, step)
				}
				far = far || r.isFar(publicFile) || r.isFar(privateFile)
				used = used || r.covered(publicFile) > 0 && r.covered(privateFile) > 0
			}
			if !used || !far || strings.Contains(r.logs.String(), "not used") {
				t.Errorf("the index was used: %v; a file was read through: %v; log: %s", used, far, r.logs)
			}
		})
	}
}

// step changes something.
func (r *rig) step(dice random) {
	private := dice.IntN(2) == 0
	for range 1 + dice.IntN(5) {
		r.save(private, dice.text(), []Importance{High, Normal}[dice.IntN(2)])
	}
	all, err := r.All(r.t.Context(), ann, private)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(all) > 0 && dice.IntN(2) == 0 {
		m := all[dice.IntN(len(all))]
		r.change(private, m.ID, []Changes{{Enabled: ptr(!m.Enabled)}, {Visibility: ptr(Private)}, {Visibility: ptr(Public)},
			{Importance: ptr(High)}, {RelatedTo: []string{"mem_a"}}}[dice.IntN(5)])
	}
	kind := []fileKind{publicFile, privateFile}[dice.IntN(2)]
	if dice.IntN(12) == 0 && len(all) > 0 { // by hand, or by an older writer: a patch in whichever file
		m := all[dice.IntN(len(all))]
		r.add(kind, fmt.Sprintf(`{"type":"patch","targetId":%q,"ts":%q,"enabled":%v}`, m.ID, time.Now().UTC().Format(iso), dice.IntN(2) == 0))
	}
	switch dice.IntN(30) {
	case 0: // a line is taken out
		lines := r.lines(kind)
		at := dice.IntN(len(lines))
		r.write(kind, slices.Delete(lines, at, at+1)...)
	case 1: // the same file is written over: same inode, same length
		data, err := os.ReadFile(r.file(kind))
		if err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(r.file(kind), []byte(strings.Replace(string(data), "tea", "pie", 1)), 0o600); err != nil {
			r.t.Fatal(err)
		}
	case 2: // what is older stands behind
		r.add(kind, memoryLine(fmt.Sprint("mem_old", dice.Uint64()), "2020-01-01T00:00:00.000Z", "public", "high", "tea"))
	case 3:
		r.add(kind, "garbage")
	}
}

func (r *rig) add(kind fileKind, line string) {
	r.t.Helper()
	out, err := os.OpenFile(r.file(kind), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := out.WriteString(line + "\n"); err != nil {
		r.t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// same asks both stores the same.
func (r *rig) same(plain *Store, dice random, step int) {
	r.t.Helper()
	private := dice.IntN(2) == 0
	q := Query{Words: dice.query(), Limit: 1 + dice.IntN(30)}
	if dice.IntN(4) == 0 {
		q.Importance = High
	}
	if dice.IntN(4) == 0 {
		q.Since = time.Now().Add(-time.Duration(dice.IntN(200)) * time.Millisecond)
	}
	if dice.IntN(4) == 0 {
		q.Until = time.Now().Add(-time.Duration(dice.IntN(200)) * time.Millisecond)
	}
	if strings.TrimSpace(q.Words) != "" {
		got, err := r.Find(r.t.Context(), ann, private, q)
		want, wrong := plain.Find(r.t.Context(), ann, private, q)
		if err != nil || wrong != nil || !reflect.DeepEqual(got, want) {
			r.t.Fatalf("step %d, private %v, %+v: %v %v %s", step, private, q, err, wrong, difference(got, want))
		}
	}
	got, err := r.Important(r.t.Context(), ann, private)
	want, wrong := plain.Important(r.t.Context(), ann, private)
	if err != nil || wrong != nil || !reflect.DeepEqual(got, want) {
		r.t.Fatalf("step %d, private %v, important: %v %v %s", step, private, err, wrong, difference(got, want))
	}
}

// difference tells what one list has and the other has not, and where they part.
func difference(got, want []Memory) string {
	var out strings.Builder
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			fmt.Fprintf(&out, "\n missing at %d %+v", i, want[i])
		case i >= len(want):
			fmt.Fprintf(&out, "\n too much at %d %+v", i, got[i])
		case !reflect.DeepEqual(got[i], want[i]):
			fmt.Fprintf(&out, "\n at %d %+v\n   not %+v", i, got[i], want[i])
			return out.String()
		}
	}
	return out.String()
}
