package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"familiar/internal/chat"
)

// Query is what a search looks for. The zero Query, but for Words, looks at everything that may be seen.
type Query struct {
	Words      string     // see keywords
	Limit      int        // the most memories; memory.searchLimit when 0, never more than 100
	Importance Importance // only these; "" for all
	Since      time.Time  // saved then or later; zero for any time
	Until      time.Time  // saved before; zero for any time
}

// query is a Query made ready.
type query struct {
	Query
	words []string
	all   bool // disabled ones too
}

// takes reports whether a memory may be an answer, whatever its words.
func (q query) takes(m *Memory) bool { return (m.Enabled || q.all) && q.Takes(*m) }

// Takes reports whether a memory is of the importance and time that a query asks for, whatever its words.
func (q Query) Takes(m Memory) bool {
	return (q.Importance == "" || q.Importance == m.Importance) &&
		(q.Since.IsZero() || !m.At.Before(q.Since)) && (q.Until.IsZero() || m.At.Before(q.Until))
}

// hit is a memory that was found.
type hit struct {
	Memory
	score int
	place int  // in the file or in what is held of it: the later the newer
	held  bool // it is not in an index; what is indexed of a file stands before what is not
}

// better sorts hits: more words first, then the newer.
func better(a, b hit) int {
	return cmp.Or(cmp.Compare(b.score, a.score), newer(a, b))
}

func newer(a, b hit) int {
	late := map[bool]int{true: 1}
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.file, a.file), cmp.Compare(late[b.held], late[a.held]),
		cmp.Compare(b.place, a.place))
}

// Search finds enabled memories by the words of a query, the best first and among equals the newest: at most limit
// of them; see Find.
func (s *Store) Search(ctx context.Context, of chat.Person, private bool, words string, limit int) ([]Memory, error) {
	return s.Find(ctx, of, private, Query{Words: words, Limit: limit})
}

// mostHits bounds how many hits are looked at for those that fit an answer.
const mostHits = 400

// Find finds enabled memories by a query, those that hold more of its words first and among equals the newest: at
// most Limit, and at most memory.maxChars characters together. What the query leaves out is left out before anything
// is counted. No words are an error except blank ones, which are ErrInvalid.
func (s *Store) Find(ctx context.Context, of chat.Person, private bool, want Query) ([]Memory, error) {
	q := query{Query: want, words: keywords(want.Words)}
	if len(q.words) == 0 {
		return nil, fmt.Errorf("%w: query must not be blank", ErrInvalid)
	}
	if i := q.Importance; i != "" && i != High && i != Normal {
		return nil, fmt.Errorf("%w: importance %q is neither high nor normal", ErrInvalid, i)
	}
	cfg := s.cfg.Load()
	limit := cfg.limit(q.Limit)
	for most := limit + 10; ; most *= 4 {
		hits, err := s.hits(ctx, of, private, q, min(most, mostHits))
		if err != nil {
			return nil, fmt.Errorf("search memories: %w", err)
		}
		told, full := fit(memoriesOf(hits), limit, cfg.MaxChars)
		if full || len(hits) < most || most >= mostHits {
			return told, nil
		}
	}
}

func memoriesOf(hits []hit) []Memory {
	all := make([]Memory, len(hits))
	for i, h := range hits {
		all[i] = h.Memory
	}
	return all
}

// hits returns the best hits of a query in everything that may be seen: most of them at the most.
func (s *Store) hits(ctx context.Context, of chat.Person, private bool, q query, most int) (hits []hit, err error) {
	err = s.seeing(ctx, of, private, func(p *person, v *view) error {
		hits = v.search(q, most)
		for _, one := range v.far {
			more, err := one.readThrough(ctx, p, q, most)
			if err != nil {
				return err
			}
			hits = append(hits, more...)
		}
		for _, one := range v.indexed {
			more, err := one.search(ctx, s.index, p, q, most)
			if err != nil {
				return err
			}
			hits = append(hits, more...)
		}
		slices.SortFunc(hits, better)
		hits = firsts(hits)
		hits = hits[:min(len(hits), most)]
		return nil
	})
	return hits, err
}

// firsts drops of two hits of one id the newer. Where an index is asked that is all that is done about an id that
// stands twice, which only a person with an editor can write.
func firsts(hits []hit) []hit {
	at := make(map[string]int, len(hits))
	twice := false
	for i, h := range hits {
		if before, ok := at[h.ID]; ok {
			twice = true
			if newer(h, hits[before]) < 0 {
				continue
			}
		}
		at[h.ID] = i
	}
	if !twice {
		return hits
	}
	var kept []hit
	for i, h := range hits {
		if at[h.ID] == i {
			kept = append(kept, h)
		}
	}
	return kept
}
