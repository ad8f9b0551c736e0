package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Name is the number by which an entry is known here: a hash of its id.
func Name(id string) int64 {
	sum := sha256.Sum256([]byte(id))
	return int64(binary.LittleEndian.Uint64(sum[:])) //nolint:gosec // any number is as good as another
}

// Doc is an entry to be indexed.
type Doc struct {
	Offset   int64
	At       int64 // in milliseconds since 1970; not before the one that came before it
	Name     int64
	High     bool
	Disabled bool
	Hidden   bool
	Text     string // folded
}

// Patch is a line that changes an entry. Loose ones change an entry that is not among those indexed with it.
type Patch struct {
	Name   int64
	Offset int64
	Loose  bool
}

// batch is how many rows go to the disk in one transaction: others wait for it, so it is short.
const batch = 1000

// Part is what one Build takes in. Of Head, which says what is covered then, Build, Count, Newest, Loose, Patches and
// Segments are counted by Build.
type Part struct {
	Head    Head
	Docs    iter.Seq2[Doc, error]
	Patches []Patch
}

// Build indexes a part of a file and makes it seen. Onto continues what a Head says is indexed; its zero value begins
// anew, and what was there before is seen until the new one is whole. It blocks for as long as the disk
// needs, in many short transactions.
func (x *Index) Build(ctx context.Context, f File, onto Head, p Part) error {
	head, docs, patches := p.Head, p.Docs, p.Patches
	b := builder{x: x, head: head}
	b.head.Build, b.head.Count, b.head.Newest = onto.Build, onto.Count, onto.Newest
	b.head.Loose, b.head.Patches, b.head.Segments = onto.Loose, onto.Patches, onto.Segments
	begin := b.goOn
	if onto.Build == 0 {
		begin = func(ctx context.Context) error { return b.begin(ctx, f) }
	}
	if err := begin(ctx); err != nil {
		return fmt.Errorf("begin an index: %w", err)
	}
	if err := b.fill(ctx, docs, patches); err != nil {
		return fmt.Errorf("build an index: %w", err)
	}
	if err := b.publish(ctx, f); err != nil {
		return fmt.Errorf("end an index: %w", err)
	}
	return x.Sweep(ctx)
}

// builder is one Build.
type builder struct {
	x    *Index
	head Head

	docs  []Doc // of the present segment, without their texts
	terms map[term]*steps
}

func (b *builder) begin(ctx context.Context, f File) error {
	return b.x.db.Write(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `INSERT INTO memory_index (platform, person, file, state) VALUES (?, ?, ?, ?)`,
			f.Platform, f.Person, f.Name, building)
		if err != nil {
			return err
		}
		b.head.Build, err = res.LastInsertId()
		return err
	})
}

// goOn forgets the segments of an earlier try that did not come to its end.
func (b *builder) goOn(ctx context.Context) error {
	return b.x.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM memory_segments WHERE build = ? AND base >= ?`, b.head.Build, b.head.Count)
		return err
	})
}

func (b *builder) fill(ctx context.Context, docs iter.Seq2[Doc, error], patches []Patch) error {
	b.terms = map[term]*steps{}
	for doc, err := range docs {
		if err != nil {
			return err
		}
		b.add(doc)
		if len(b.docs) == segmentSize {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
	if err := b.flush(ctx); err != nil {
		return err
	}
	for some := range slices.Chunk(patches, batch) {
		if err := b.x.db.Write(ctx, func(tx *sql.Tx) error {
			for _, p := range some {
				if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO memory_patches VALUES (?, ?, ?, ?)`, b.head.Build, p.Name, p.Offset, p.Loose); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	for _, p := range patches {
		b.head.Patches++
		if p.Loose {
			b.head.Loose++
		}
	}
	return nil
}

func (b *builder) add(doc Doc) {
	entry := len(b.docs)
	note := func(t term) {
		s := b.terms[t]
		if s == nil {
			s = &steps{}
			b.terms[t] = s
		}
		s.add(entry)
	}
	each(doc.Text, note)
	for state, is := range map[term]bool{stateHigh: doc.High, stateDisabled: doc.Disabled, stateHidden: doc.Hidden} {
		if is {
			note(state)
		}
	}
	doc.Text = ""
	b.docs = append(b.docs, doc)
}

// flush writes the present segment and begins the next.
func (b *builder) flush(ctx context.Context) error {
	if len(b.docs) == 0 {
		return nil
	}
	number, base := b.head.Segments, b.head.Count
	// The number is taken for good: what a build that is cut off leaves under it is never seen.
	if err := b.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE memory_index SET segments = ? WHERE build = ?`, number+1, b.head.Build)
		return err
	}); err != nil {
		return err
	}
	place := base
	for some := range slices.Chunk(b.docs, batch) {
		first := place
		if err := b.rows(ctx, `INSERT OR REPLACE INTO memory_entries VALUES (?, ?, ?, ?, ?)`, len(some), func(i int) []any {
			return []any{b.head.Build, first + i, some[i].Offset, some[i].At, some[i].Name}
		}); err != nil {
			return err
		}
		place += len(some)
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(b.terms)), batch) {
		if err := b.rows(ctx, `INSERT OR REPLACE INTO memory_terms (build, segment, term, entries) VALUES (?, ?, ?, ?)`, len(some), func(i int) []any {
			return []any{b.head.Build, number, some[i], b.terms[some[i]].pack(len(b.docs))}
		}); err != nil {
			return err
		}
	}
	if err := b.rows(ctx, `INSERT OR REPLACE INTO memory_segments VALUES (?, ?, ?, ?)`, 1, func(int) []any {
		return []any{b.head.Build, number, base, len(b.docs)}
	}); err != nil {
		return err
	}
	b.head.Segments, b.head.Count, b.head.Newest = number+1, place, b.docs[len(b.docs)-1].At
	b.docs = b.docs[:0]
	clear(b.terms)
	return nil
}

func (b *builder) write(ctx context.Context, do func(tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.x.db.Write(ctx, do)
}

// rows writes n rows in one transaction.
func (b *builder) rows(ctx context.Context, statement string, n int, row func(i int) []any) error {
	return b.write(ctx, func(tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx, statement)
		if err != nil {
			return err
		}
		for i := range n {
			if _, err := insert.ExecContext(ctx, row(i)...); err != nil {
				return errors.Join(err, insert.Close())
			}
		}
		return insert.Close()
	})
}

// publish makes the build seen, and what it replaces unseen.
func (b *builder) publish(ctx context.Context, f File) error {
	h := b.head
	return b.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE memory_index SET state = ? WHERE platform = ? AND person = ? AND file = ?
			AND build <> ?`, dropped, f.Platform, f.Person, f.Name, h.Build); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE memory_index SET state = ?, inode = ?, covered = ?, last = ?, whole = ?,
			entries = ?, newest = ?, loose = ?, patches = ?, segments = ? WHERE build = ?`, good, int64(h.Inode), h.Covered, //nolint:gosec // read back the same way
			h.Last, h.Whole, h.Count, h.Newest, h.Loose, h.Patches, h.Segments, h.Build)
		return err
	})
}

// Drop makes the index of a file unseen; Sweep takes it away.
func (x *Index) Drop(ctx context.Context, f File) error {
	err := x.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE memory_index SET state = ? WHERE platform = ? AND person = ? AND file = ?`,
			dropped, f.Platform, f.Person, f.Name)
		return err
	})
	if err != nil {
		return fmt.Errorf("drop an index: %w", err)
	}
	return nil
}

// Sweep takes away what no reader sees: what was dropped, and what a build that was cut off left. No Build may run.
func (x *Index) Sweep(ctx context.Context) error {
	var builds []int64
	rows, err := x.db.Read().QueryContext(ctx, `SELECT build FROM memory_index WHERE state <> ?`, good)
	if err != nil {
		return fmt.Errorf("sweep the index: %w", err)
	}
	if err := scan(rows, func() error {
		var build int64
		err := rows.Scan(&build)
		builds = append(builds, build)
		return err
	}); err != nil {
		return fmt.Errorf("sweep the index: %w", err)
	}
	for _, build := range builds {
		for _, statement := range []string{
			`DELETE FROM memory_terms WHERE build = ?1 AND (segment, term) IN (SELECT segment, term FROM memory_terms WHERE build = ?1 ORDER BY segment, term LIMIT ?2)`,
			`DELETE FROM memory_entries WHERE build = ?1 AND place IN (SELECT place FROM memory_entries WHERE build = ?1 ORDER BY place LIMIT ?2)`,
			`DELETE FROM memory_patches WHERE build = ?1 AND name <= (SELECT max(name) FROM (SELECT name FROM memory_patches WHERE build = ?1 ORDER BY name LIMIT ?2))`,
			`DELETE FROM memory_segments WHERE build = ?1 AND ?2`,
			`DELETE FROM memory_index WHERE build = ?1 AND ?2`,
		} {
			if err := x.sweep(ctx, statement, build); err != nil {
				return fmt.Errorf("sweep the index: %w", err)
			}
		}
	}
	return nil
}

// sweep runs a statement that deletes some rows until it finds none.
func (x *Index) sweep(ctx context.Context, statement string, build int64) error {
	for {
		var n int64
		if err := x.db.Write(ctx, func(tx *sql.Tx) error {
			res, err := tx.ExecContext(ctx, statement, build, batch)
			if err != nil {
				return err
			}
			n, err = res.RowsAffected()
			return err
		}); err != nil || n == 0 {
			return err
		}
	}
}
