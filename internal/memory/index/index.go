// Package index finds the lines of a long file by their words without reading the file. It lies in the database
// of the bot and holds no text: for each segment of the file, which entries hold which terms (see term), where each
// entry begins, and what its state is. Whatever it names is to be read from the file and looked at again, so an index
// that is wrong can hide a line and never show one that is not there.
//
// A file is indexed up to a byte. What was added since is its reader's to look through; Build takes it in. What is
// built is seen when it is whole, or not at all. The index of one file says nothing about another.
package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"familiar/internal/sqlite"
)

// Index is the index of all files. Safe for concurrent use, except that one Build or Drop of a file runs at a time.
type Index struct{ db *sqlite.DB }

// schema: memory_index has a row for each build; state says whether it is seen. A segment is
// written in one go, so the sets of its terms lie together. Entries of a segment count from its base; places of a build count from 0.
const schema = `
CREATE TABLE memory_index (build INTEGER PRIMARY KEY AUTOINCREMENT, platform TEXT NOT NULL, person TEXT NOT NULL,
	file TEXT NOT NULL, state INTEGER NOT NULL, inode INTEGER NOT NULL DEFAULT 0, covered INTEGER NOT NULL DEFAULT 0,
	last BLOB, whole BLOB, entries INTEGER NOT NULL DEFAULT 0, newest INTEGER NOT NULL DEFAULT 0,
	loose INTEGER NOT NULL DEFAULT 0, patches INTEGER NOT NULL DEFAULT 0, segments INTEGER NOT NULL DEFAULT 0);
CREATE INDEX memory_index_file ON memory_index (platform, person, file);
CREATE TABLE memory_segments (build INTEGER NOT NULL, segment INTEGER NOT NULL, base INTEGER NOT NULL,
	entries INTEGER NOT NULL, PRIMARY KEY (build, segment)) WITHOUT ROWID;
CREATE TABLE memory_entries (build INTEGER NOT NULL, place INTEGER NOT NULL, offset INTEGER NOT NULL,
	at INTEGER NOT NULL, name INTEGER NOT NULL, PRIMARY KEY (build, place)) WITHOUT ROWID;
CREATE INDEX memory_entries_name ON memory_entries (build, name);
CREATE TABLE memory_patches (build INTEGER NOT NULL, name INTEGER NOT NULL, offset INTEGER NOT NULL,
	loose INTEGER NOT NULL, PRIMARY KEY (build, name, offset)) WITHOUT ROWID;
CREATE INDEX memory_patches_loose ON memory_patches (build, offset) WHERE loose;
CREATE TABLE memory_terms (build INTEGER NOT NULL, term INTEGER NOT NULL, segment INTEGER NOT NULL,
	entries BLOB NOT NULL, PRIMARY KEY (build, segment, term)) WITHOUT ROWID;`

// The states of a build.
const (
	building = 0
	good     = 1
	dropped  = 2
)

// Open prepares the tables.
func Open(ctx context.Context, db *sqlite.DB) (*Index, error) {
	if err := db.Migrate(ctx, "memory index", schema); err != nil {
		return nil, err
	}
	return &Index{db}, nil
}

// File names an indexed file.
type File struct{ Platform, Person, Name string }

// Head says what of a file is indexed.
type Head struct {
	Build    int64
	Inode    uint64
	Covered  int64  // bytes of the file; the last of them is a newline
	Last     []byte // the hash of the last line that is covered
	Whole    []byte // the hash of all that is covered
	Count    int    // how many entries
	Newest   int64  // the latest time of an entry, in milliseconds since 1970
	Loose    int    // patches of entries that are not in the same part of the file
	Patches  int    // all of them
	Segments int    // how many were ever written
}

// Reader looks at the index of one file as it was at one moment.
type Reader struct {
	Head
	tx       *sql.Tx
	segments []segment
}

type segment struct{ number, base, entries int }

// Read opens the index of a file; nil when there is none. The caller closes it.
func (x *Index) Read(ctx context.Context, f File) (_ *Reader, err error) {
	tx, err := x.db.Read().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	r := &Reader{tx: tx}
	defer func() {
		if err != nil || r.Build == 0 {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	var inode int64
	err = tx.QueryRowContext(ctx, `SELECT build, inode, covered, last, whole, entries, newest, loose, patches, segments
		FROM memory_index WHERE platform = ? AND person = ? AND file = ? AND state = ? ORDER BY build DESC LIMIT 1`,
		f.Platform, f.Person, f.Name, good).Scan(&r.Build, &inode, &r.Covered, &r.Last, &r.Whole, &r.Count,
		&r.Newest, &r.Loose, &r.Patches, &r.Segments)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // there is no index, as the comment says
	}
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	r.Inode = uint64(inode) //nolint:gosec // as it was written
	rows, err := tx.QueryContext(ctx, `SELECT segment, base, entries FROM memory_segments WHERE build = ?
		AND base + entries <= ? ORDER BY base`, r.Build, r.Count)
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	return r, scan(rows, func() error {
		var s segment
		if err := rows.Scan(&s.number, &s.base, &s.entries); err != nil {
			return err
		}
		r.segments = append(r.segments, s)
		return nil
	})
}

// Close ends the reading. A nil reader has nothing to end.
func (r *Reader) Close() error {
	if r == nil {
		return nil
	}
	return r.tx.Rollback()
}

// Parts is how many segments the index is in: many small ones are slow to ask.
func (r *Reader) Parts() int { return len(r.segments) }

// scan calls row for every row, and closes rows.
func scan(rows *sql.Rows, row func() error) error {
	var err error
	for err == nil && rows.Next() {
		err = row()
	}
	return errors.Join(err, rows.Err(), rows.Close())
}
