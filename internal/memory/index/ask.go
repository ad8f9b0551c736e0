package index

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
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
	found := make([][]Hit, len(q.Words)+1) // by score, the newest first
	for _, g := range r.groups() {
		enough, err := r.askGroup(ctx, g, q, found)
		if err != nil {
			return nil, false, err
		}
		if more = enough; enough {
			break
		}
	}
	for _, some := range slices.Backward(found) {
		hits = append(hits, some...)
	}
	if len(hits) > q.Most {
		return hits[:q.Most], true, nil
	}
	return hits, more, nil
}

// group is neighbouring segments that are asked at once.
type group struct {
	segments []segment
	list     string      // their numbers, for a statement
	at       map[int]int // by number, where they stand
}

// groups are the newest segment and then the others: for a common word the newest is enough.
func (r *Reader) groups() (all []group) {
	n := len(r.segments)
	for _, some := range [][]segment{r.segments[max(0, n-1):], r.segments[:max(0, n-1)]} {
		g := group{segments: some, at: make(map[int]int, len(some))}
		for i, s := range some {
			g.at[s.number] = i
			g.list = strings.TrimPrefix(g.list+","+strconv.Itoa(s.number), ",")
		}
		if len(some) > 0 {
			all = append(all, g)
		}
	}
	return all
}

// askGroup adds the hits of a group to found, and reports whether older ones cannot matter.
func (r *Reader) askGroup(ctx context.Context, g group, q Question, found [][]Hit) (enough bool, err error) {
	words := make([][]*set, len(q.Words))
	for i, word := range q.Words {
		if words[i], err = r.holding(ctx, g, word); err != nil {
			return false, err
		}
	}
	pass, err := r.pass(ctx, g, q)
	if err != nil {
		return false, err
	}
	for i := len(g.segments) - 1; i >= 0; i-- {
		holding := make([]*set, len(words))
		for j := range words {
			holding[j] = words[j][i]
		}
		if !collect(g.segments[i].base, pass[i], holding, found, q.Most) {
			return true, nil
		}
	}
	return false, nil
}

// collect adds the hits of one segment to found, and reports whether older ones can matter.
func collect(base int, pass *set, words []*set, found [][]Hit, most int) bool {
	best := len(words)
	if best > 0 {
		var any set
		for _, holding := range words {
			any.or(holding)
		}
		pass.and(&any)
	}
	return pass.backwards(func(entry int) bool {
		score := 0
		for _, holding := range words {
			if holding != nil && holding.has(entry) {
				score++
			}
		}
		if len(found[score]) <= most { // one more tells that there are more
			found[score] = append(found[score], Hit{base + entry, score})
		}
		return len(found[best]) <= most
	})
}

// pass returns for each segment of a group the entries whose state is right.
func (r *Reader) pass(ctx context.Context, g group, q Question) ([]*set, error) {
	first, end, err := r.window(ctx, q)
	if err != nil {
		return nil, err
	}
	states := map[term][]*set{}
	for state := stateHigh; state <= stateHidden; state++ {
		states[state] = make([]*set, len(g.segments))
	}
	if err := r.lookup(ctx, g, span{stateHigh, stateHidden}, func(i int, state term, packed []byte) error {
		states[state][i] = &set{}
		return states[state][i].add(packed)
	}); err != nil {
		return nil, err
	}
	pass := make([]*set, len(g.segments))
	for i, s := range g.segments {
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

// holding returns for each segment of a group the entries that may hold a word; nil where there are none.
func (r *Reader) holding(ctx context.Context, g group, word string) ([]*set, error) {
	all := make([]*set, len(g.segments))
	wants := demands(word)
	if len(wants) == 0 { // nothing to look up: anything may hold it
		for i := range all {
			all[i] = &set{}
			all[i].fill(0, math.MaxInt)
		}
	}
	for n, want := range wants {
		fill := n == 0
		if !fill && want.first == want.last {
			if err := r.meet(ctx, g, want, all); err != nil {
				return nil, err
			}
		} else if err := r.fill(ctx, g, want, all, fill); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(s *set) bool { return s != nil }) {
			break
		}
	}
	return all, nil
}

// meet leaves in all what holds one more term.
func (r *Reader) meet(ctx context.Context, g group, want span, all []*set) error {
	left := make([]bool, len(all))
	err := r.lookup(ctx, g, want, func(i int, _ term, packed []byte) (err error) {
		if all[i] != nil {
			left[i], err = all[i].meet(packed)
		}
		return err
	})
	for i := range all {
		if !left[i] {
			all[i] = nil
		}
	}
	return err
}

// fill puts into all what holds one of the terms of a span; when it is not the first, what was there stays only where
// that does, too.
func (r *Reader) fill(ctx context.Context, g group, want span, all []*set, first bool) error {
	sets := make([]*set, len(all))
	err := r.lookup(ctx, g, want, func(i int, _ term, packed []byte) error {
		if !first && all[i] == nil {
			return nil // it is out already
		}
		if sets[i] == nil {
			sets[i] = &set{}
		}
		return sets[i].add(packed)
	})
	for i := range all {
		if !first && sets[i] != nil && !sets[i].and(all[i]) {
			sets[i] = nil
		}
		all[i] = sets[i]
	}
	return err
}

// lookup hands over, for each segment of a group, the packed set of each term of a span.
func (r *Reader) lookup(ctx context.Context, g group, want span, visit func(i int, t term, packed []byte) error) error {
	//nolint:gosec // the list holds numbers of ours
	rows, err := r.tx.QueryContext(ctx, `SELECT segment, term, entries FROM memory_terms WHERE build = ? AND segment IN (`+g.list+
		`) AND term BETWEEN ? AND ?`, r.Build, want.first, want.last)
	if err != nil {
		return err
	}
	return scan(rows, func() error {
		var number int
		var t term
		var packed sql.RawBytes
		if err := rows.Scan(&number, &t, &packed); err != nil {
			return err
		}
		return visit(g.at[number], t, packed)
	})
}
