package index

import (
	"context"
	"slices"
	"strings"
)

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
