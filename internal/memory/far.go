package memory

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"familiar/internal/journal"
)

// scan reads what of a file is neither indexed nor held, from its beginning to its end, and shows the hits of a query
// in the order of the file.
func (s shelf) scan(ctx context.Context, p *person, q query, visit func(hit)) error {
	in, err := os.Open(filepath.Join(p.folder, s.kind.name()))
	if err != nil {
		return err
	}
	defer in.Close()
	place := 0
	_, err = journal.Scan(io.NewSectionReader(in, s.from, math.MaxInt64-s.from), func(raw []byte) error {
		var one parsed
		if err := one.add(raw, s.kind); err != nil || len(one.memories) == 0 {
			return err
		}
		if place++; place%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m := one.memories[0]
		h := hit{Memory: m, place: place, held: true}
		if len(q.words) > 0 {
			if h.score = score(strings.ToLower(m.Content), q.words); h.score == 0 {
				return nil
			}
		}
		if extra := s.extra[m.ID]; len(extra) > 0 {
			h.Memory = resolve(parsed{one.memories, extra})[0]
		}
		if (s.private || h.Visibility == Public) && q.takes(&h.Memory) {
			visit(h)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", s.kind.name(), err)
	}
	return nil
}

// readThrough returns the best hits of a query: most of them at the most. Of the others nothing is kept.
func (s shelf) readThrough(ctx context.Context, p *person, q query, most int) (found []hit, err error) {
	err = s.scan(ctx, p, q, func(h hit) {
		if found = append(found, h); len(found) >= 2*most+1000 {
			slices.SortFunc(found, better)
			found = found[:most]
		}
	})
	slices.SortFunc(found, better)
	return found[:min(len(found), most)], err
}

// seek returns the memory of an id.
func (s shelf) seek(ctx context.Context, p *person, id string) (found Memory, known bool, err error) {
	err = s.scan(ctx, p, query{all: true}, func(h hit) {
		if h.ID == id && !known {
			found, known = h.Memory, true
		}
	})
	return found, known, err
}
