// Package state keeps what a bot's database alone knows, and a backup must hold, in a file that people can read: when
// the jobs of the clock are due, and what the machine remembers by key, such as who is admitted. It holds no secret.
//
// It promises: the file is written whole or not at all, is sorted, and stays as it is where nothing changed; and a bot
// whose database is missing gets a new one that holds what the file says, or none.
package state

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"familiar/internal/clock"
	"familiar/internal/kv"
	"familiar/internal/sheet"
	"familiar/internal/sqlite"
)

// File is the name of the file, in the folder of a bot's data.
const File = "state.jsonl"

// mostBytes bounds what is read of the file, and mostLine a line of it.
const (
	mostBytes = 64 << 20
	mostLine  = 1 << 20
)

// State is what is kept.
type State struct {
	Clock []clock.State
	KV    []kv.Entry
}

// line is one line of the file. Kind says which of the others is there.
type line struct {
	Kind  string       `json:"kind"`
	Clock *clock.State `json:"job,omitempty"`
	KV    *kv.Entry    `json:"entry,omitempty"`
}

const (
	ofClock = "clock"
	ofKV    = "kv"
)

// encode writes a state as lines, in an order that does not depend on when it was written.
func (s State) encode() ([]byte, error) {
	jobs, entries := slices.Clone(s.Clock), slices.Clone(s.KV)
	slices.SortFunc(jobs, func(a, b clock.State) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(entries, func(a, b kv.Entry) int { return cmp.Compare(a.Key, b.Key) })
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	var errs []error
	for _, j := range jobs {
		j.Running = false // not any more, for whoever reads it
		j.Next, j.Last = moment(j.Next), moment(j.Last)
		errs = append(errs, enc.Encode(line{Kind: ofClock, Clock: &j}))
	}
	for _, e := range entries {
		e.Until = moment(e.Until)
		errs = append(errs, enc.Encode(line{Kind: ofKV, KV: &e}))
	}
	return out.Bytes(), errors.Join(errs...)
}

// moment is a time as the database keeps it, so that a restart does not change the file.
func moment(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Write puts a state into the file at path.
func (s State) Write(path string) error {
	text, err := s.encode()
	if err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := sheet.Write(path, text); err != nil {
		return fmt.Errorf("write the state: %w", err)
	}
	return nil
}

// Read reads the file at path. broken counts the lines that make no sense; they are left out.
func Read(path string) (s State, broken int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return s, 0, fmt.Errorf("read the state: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, mostBytes))
	lines.Buffer(nil, mostLine)
	for lines.Scan() {
		var l line
		switch err := json.Unmarshal(lines.Bytes(), &l); {
		case err == nil && l.Kind == ofClock && l.Clock != nil && l.Clock.Name != "" && !l.Clock.Next.IsZero() && sane(l.Clock.Next) && sane(l.Clock.Last):
			s.Clock = append(s.Clock, *l.Clock)
		case err == nil && l.Kind == ofKV && l.KV != nil && l.KV.Key != "" && sane(l.KV.Until):
			s.KV = append(s.KV, *l.KV)
		default:
			broken++
		}
	}
	if err := lines.Err(); err != nil {
		return s, broken, fmt.Errorf("read the state: %w", err)
	}
	return s, broken, nil
}

// sane reports whether a time can be one of ours, or is none.
func sane(t time.Time) bool { return t.IsZero() || t.Year() > 1970 && t.Year() < 9000 }

// Revived is what came of Revive.
type Revived struct {
	Made         bool // a database was made
	Jobs, Values int  // what is in it
	Broken       int  // lines that were left out
}

// Revive makes the database where it is missing and the file is there. The database appears whole; a process that ends
// before has made none.
func Revive(ctx context.Context, path, database string, now func() time.Time) (r Revived, err error) {
	if _, err := os.Stat(database); !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	s, broken, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	fresh := database + ".new"
	if err := remove(fresh, database); err != nil {
		return r, fmt.Errorf("bring the state back: %w", err)
	}
	if r.Values, err = s.fill(ctx, fresh, now); err != nil {
		return r, fmt.Errorf("bring the state back: %w", err)
	}
	if err := os.Rename(fresh, database); err != nil {
		return r, fmt.Errorf("bring the state back: %w", err)
	}
	r.Made, r.Jobs, r.Broken = true, len(s.Clock), broken
	return r, nil
}

// remove takes away what a crash left of databases, and the journals of one that is gone.
func remove(databases ...string) (err error) {
	for _, path := range databases {
		for _, end := range []string{"", "-wal", "-shm"} {
			if no := os.Remove(path + end); !errors.Is(no, fs.ErrNotExist) {
				err = errors.Join(err, no)
			}
		}
	}
	return err
}

// fill makes a database with a state in it. It returns how many of the values had not expired.
func (s State) fill(ctx context.Context, path string, now func() time.Time) (values int, err error) {
	db, err := sqlite.Open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := clock.Seed(ctx, db, s.Clock); err != nil {
		return 0, err
	}
	store, err := kv.NewSQLite(ctx, db, now)
	if err != nil {
		return 0, err
	}
	for _, e := range s.KV {
		ttl := time.Duration(0)
		if !e.Until.IsZero() {
			if ttl = e.Until.Sub(now()); ttl < time.Millisecond {
				continue
			}
		}
		if err := store.Save(ctx, e.Key, e.Value, ttl); err != nil {
			return values, err
		}
		values++
	}
	return values, nil
}
