package index

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"
)

// The terms that no text has: the states of entries.
const (
	stateHigh     term = 1
	stateDisabled term = 2
	stateHidden   term = 3 // not to be seen by everybody
)

// Question is what is looked for.
type Question struct {
	Words  []string // folded; an entry that holds one of them counts. None: every entry counts
	High   bool     // only important ones
	Hidden bool     // hidden ones, too
	Since  int64    // in milliseconds since 1970; 0: from the first
	Until  int64    // in milliseconds since 1970, itself not included; 0: to the last
	Force  []int    // places of entries whose state is not known here; they count as if it were right
	Most   int      // the most hits that are returned
}

// Hit is an entry that may be an answer: it holds Score of the words at the most.
type Hit struct{ Place, Score int }

// Ask returns the entries that may be an answer: those that may hold more of the words first, among equals the
// newest. more says that there are others behind them.
func (r *Reader) Ask(ctx context.Context, q Question) (hits []Hit, more bool, err error) {
	pass, err := r.pass(ctx, q)
	if err != nil {
		return nil, false, err
	}
	words := make([][]*set, len(q.Words))
	for i, word := range q.Words {
		if words[i], err = r.holding(ctx, word); err != nil {
			return nil, false, err
		}
	}
	found := make([][]Hit, len(q.Words)+1) // by score, the newest first
	for i := len(r.segments) - 1; i >= 0; i-- {
		if !r.collect(i, pass[i], words, found, q.Most) {
			more = true
			break
		}
	}
	for _, some := range slices.Backward(found) {
		more = more || len(some) > q.Most
		hits = append(hits, some...)
	}
	if len(hits) > q.Most {
		return hits[:q.Most], true, nil
	}
	return hits, more, nil
}

// collect adds the hits of one segment to found, and reports whether older ones can matter.
func (r *Reader) collect(i int, pass *set, words [][]*set, found [][]Hit, most int) bool {
	best := len(words)
	if best > 0 {
		var any set
		for _, holding := range words {
			any.or(holding[i])
		}
		pass.and(&any)
	}
	base := r.segments[i].base
	return pass.backwards(func(entry int) bool {
		score := 0
		for _, holding := range words {
			if holding[i] != nil && holding[i].has(entry) {
				score++
			}
		}
		if len(found[score]) <= most { // one more tells that there are more
			found[score] = append(found[score], Hit{base + entry, score})
		}
		return len(found[best]) <= most
	})
}

// pass returns for each segment the entries whose state is right.
func (r *Reader) pass(ctx context.Context, q Question) ([]*set, error) {
	first, end, err := r.window(ctx, q)
	if err != nil {
		return nil, err
	}
	var states [stateHidden + 1][]*set
	for state := stateHigh; state <= stateHidden; state++ {
		if states[state], err = r.lookup(ctx, span{state, state}); err != nil {
			return nil, err
		}
	}
	pass := make([]*set, len(r.segments))
	for i, s := range r.segments {
		pass[i] = &set{}
		pass[i].fill(first-s.base, min(end-s.base, s.entries))
		window := *pass[i]
		pass[i].less(states[stateDisabled][i])
		if q.High {
			pass[i].and(states[stateHigh][i])
		}
		if !q.Hidden {
			pass[i].less(states[stateHidden][i])
		}
		for _, place := range q.Force {
			if entry := place - s.base; entry >= 0 && entry < s.entries && window.has(entry) {
				pass[i].put(entry)
			}
		}
	}
	return pass, nil
}

// window returns the places of the entries of the time that is asked for: places are in the order of times.
func (r *Reader) window(ctx context.Context, q Question) (first, end int, err error) {
	first, end = 0, r.Count
	if q.Since != 0 {
		if first, err = r.before(ctx, q.Since); err != nil {
			return 0, 0, err
		}
	}
	if q.Until != 0 {
		end, err = r.before(ctx, q.Until)
	}
	return first, end, err
}

// before returns how many entries are older than at.
func (r *Reader) before(ctx context.Context, at int64) (int, error) {
	low, high := 0, r.Count
	for low < high {
		middle := (low + high) / 2
		var then int64
		err := r.tx.QueryRowContext(ctx, `SELECT at FROM memory_entries WHERE build = ? AND place = ?`, r.Build, middle).Scan(&then)
		if err != nil {
			return 0, err
		}
		if then < at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// holding returns for each segment the entries that may hold a word; nil where there are none.
func (r *Reader) holding(ctx context.Context, word string) ([]*set, error) {
	var all []*set
	for i, want := range demands(word) {
		sets, err := r.lookup(ctx, want)
		if err != nil || i == 0 {
			if all = sets; err != nil {
				return nil, err
			}
			continue
		}
		left := false
		for i, s := range all {
			if s != nil {
				s.and(sets[i])
				left = left || *s != set{}
			}
		}
		if !left {
			break
		}
	}
	if all == nil { // nothing to look up: anything may hold it
		all = make([]*set, len(r.segments))
		for i := range all {
			all[i] = &set{}
			all[i].fill(0, math.MaxInt)
		}
	}
	return all, nil
}

// lookup returns for each segment the entries that hold one of the terms of a span; nil where there are none.
func (r *Reader) lookup(ctx context.Context, want span) ([]*set, error) {
	at := make(map[int]int, len(r.segments))
	for i, s := range r.segments {
		at[s.number] = i
	}
	sets := make([]*set, len(r.segments))
	//nolint:gosec // the list holds numbers of ours
	rows, err := r.tx.QueryContext(ctx, `SELECT segment, entries FROM memory_terms WHERE build = ? AND segment IN (`+r.list+
		`) AND term BETWEEN ? AND ?`, r.Build, want.first, want.last)
	if err != nil {
		return nil, err
	}
	return sets, scan(rows, func() error {
		var number int
		var packed sql.RawBytes
		if err := rows.Scan(&number, &packed); err != nil {
			return err
		}
		i, ok := at[number]
		if !ok {
			return nil // a build that did not come to its end left it
		}
		if sets[i] == nil {
			sets[i] = &set{}
		}
		return sets[i].add(packed)
	})
}

// Entry is where an entry lies in the file.
type Entry struct {
	Place  int
	Offset int64
	Name   int64 // see Name
}

// Entries returns the entries at places, in no order.
func (r *Reader) Entries(ctx context.Context, places []int) ([]Entry, error) {
	return r.entries(ctx, "place", numbers(places))
}

// Named returns the entries of names, in no order.
func (r *Reader) Named(ctx context.Context, names []int64) ([]Entry, error) {
	return r.entries(ctx, "name", names)
}

// mostAsked is how many values one statement asks for.
const mostAsked = 500

func (r *Reader) entries(ctx context.Context, column string, values []int64) (all []Entry, err error) {
	for some := range slices.Chunk(values, mostAsked) {
		//nolint:gosec // column is one of two words of ours
		rows, err := r.tx.QueryContext(ctx, `SELECT place, offset, name FROM memory_entries WHERE build = ? AND `+column+
			` IN (?`+strings.Repeat(",?", len(some)-1)+`) AND place < ?`, r.arguments(some, int64(r.Count))...)
		if err != nil {
			return nil, err
		}
		if err := scan(rows, func() error {
			var e Entry
			if err := rows.Scan(&e.Place, &e.Offset, &e.Name); err != nil {
				return err
			}
			all = append(all, e)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Tied returns where in the file the patches of entries lie that were indexed with them, by name.
func (r *Reader) Tied(ctx context.Context, names []int64) (map[int64][]int64, error) {
	all := map[int64][]int64{}
	if r.Patches == r.Loose {
		return all, nil
	}
	for some := range slices.Chunk(names, mostAsked) {
		rows, err := r.tx.QueryContext(ctx, `SELECT name, offset FROM memory_patches WHERE build = ? AND name IN (?`+
			strings.Repeat(",?", len(some)-1)+`) AND NOT loose AND offset < ? ORDER BY offset`, r.arguments(some, r.Covered)...)
		if err != nil {
			return nil, err
		}
		if err := scan(rows, func() error {
			var name, offset int64
			if err := rows.Scan(&name, &offset); err != nil {
				return err
			}
			all[name] = append(all[name], offset)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// LoosePatches returns where in the file the patches lie that belong to entries elsewhere, in the order of the file.
func (r *Reader) LoosePatches(ctx context.Context) (offsets []int64, err error) {
	if r.Loose == 0 {
		return nil, nil
	}
	rows, err := r.tx.QueryContext(ctx, `SELECT offset FROM memory_patches WHERE build = ? AND loose AND offset < ? ORDER BY offset`,
		r.Build, r.Covered)
	if err != nil {
		return nil, err
	}
	return offsets, scan(rows, func() error {
		var offset int64
		if err := rows.Scan(&offset); err != nil {
			return err
		}
		offsets = append(offsets, offset)
		return nil
	})
}

func (r *Reader) arguments(values []int64, bound int64) []any {
	all := make([]any, 0, len(values)+2)
	all = append(all, r.Build)
	for _, v := range values {
		all = append(all, v)
	}
	return append(all, bound)
}

func numbers(places []int) []int64 {
	all := make([]int64, len(places))
	for i, p := range places {
		all[i] = int64(p)
	}
	return all
}
