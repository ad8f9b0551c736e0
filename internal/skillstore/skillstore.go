// Package skillstore keeps the skills that an operator takes from other people. What was first fetched is pinned by its
// hash; what changes later waits until the owner lets it in, and agents read the older one until then. It fetches by a
// program that whoever opens it runs, and never gives an agent what does not have the pinned hash.
package skillstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"familiar/internal/chat"
	"familiar/internal/sheet"
	"familiar/internal/skill"
)

// Store is a folder of skills. Several processes may use it.
type Store struct {
	dir string
	now func() time.Time
}

// Open names the folder; nothing is made before something is kept.
func Open(dir string, now func() time.Time) *Store { return &Store{dir, now} }

// Fetch gets one skill: its folder is to lie below the folder that it returns, which clean removes.
type Fetch func(ctx context.Context, e skill.External) (dir string, clean func(), err error)

// pin is what is known of one skill, by its name.
type pin struct {
	Repo     string    `json:"repo"`
	Hash     string    `json:"hash"` // what agents may read
	At       time.Time `json:"at"`
	Waiting  *offer    `json:"waiting,omitempty"`
	Rejected []string  `json:"rejected,omitempty"` // hashes that the owner does not want to be asked about again
}

// offer is what waits for the owner.
type offer struct {
	Repo string    `json:"repo"`
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
}

type pins map[string]pin

// The folders of what agents may read, and of what waits.
const (
	admitted = "admitted"
	waiting  = "waiting"
	pinsFile = "pins.json"
)

// Update fetches every skill, one after another. One that cannot be had is logged, and what was kept of it stays.
func (s *Store) Update(ctx context.Context, list []skill.External, fetch Fetch, log *slog.Logger) {
	for _, e := range list {
		if ctx.Err() != nil {
			return
		}
		state, err := s.update(ctx, e, fetch)
		line := []any{"skill", e.Skill, "repo", e.Repo}
		switch {
		case err != nil:
			log.Warn("a skill of somebody else could not be fetched; what is kept of it stays", append(line, chat.KeyErr, err)...)
		case state == changed:
			log.Warn("a skill of somebody else has changed; agents read the older one until you let the new one in",
				append(line, "see", "familiar skills show "+e.Skill)...)
		case state == pinned:
			log.Info("a skill of somebody else is pinned as it is now", line...)
		}
	}
}

// state is what came of fetching a skill.
type state int

const (
	same state = iota
	pinned
	changed
)

func (s *Store) update(ctx context.Context, e skill.External, fetch Fetch) (state, error) {
	dir, clean, err := fetch(ctx, e)
	if err != nil {
		return same, err
	}
	defer clean()
	got, err := skill.Read(dir, e.Skill)
	if err != nil {
		return same, err
	}
	unlock, err := s.lock()
	if err != nil {
		return same, err
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return same, err
	}
	p, known := all[e.Skill]
	hash := got.Hash()
	switch {
	case !known:
		all[e.Skill] = pin{Repo: e.Repo, Hash: hash, At: s.now()}
		return pinned, errors.Join(s.put(admitted, got), s.write(all))
	case p.Hash == hash && p.Repo == e.Repo: // also what somebody spoiled is laid down anew
		p.Waiting = nil
		all[e.Skill] = p
		return same, errors.Join(s.put(admitted, got), s.drop(waiting, e.Skill), s.write(all))
	case slices.Contains(p.Rejected, hash):
		return same, nil
	}
	p.Waiting = &offer{Repo: e.Repo, Hash: hash, At: s.now()}
	all[e.Skill] = p
	return changed, errors.Join(s.put(waiting, got), s.write(all))
}

// Admitted returns the skills of the list that agents may read. One that is not what was pinned is left out, and named in
// the error.
func (s *Store) Admitted(list []skill.External) ([]skill.Skill, error) {
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	var found []skill.Skill
	var errs []error
	for _, e := range list {
		p, known := all[e.Skill]
		if !known || p.Repo != e.Repo {
			continue
		}
		one, err := skill.Read(filepath.Join(s.dir, admitted), e.Skill)
		if err == nil && one.Hash() != p.Hash {
			err = fmt.Errorf("skill %s is not what was pinned", e.Skill)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found = append(found, one)
	}
	return found, errors.Join(errs...)
}

func (s *Store) put(where string, one skill.Skill) error {
	return skill.Put(filepath.Join(s.dir, where), one)
}

func (s *Store) drop(where, name string) error {
	if err := os.RemoveAll(filepath.Join(s.dir, where, name)); err != nil {
		return fmt.Errorf("remove skill %s: %w", name, err)
	}
	return nil
}

// lock keeps other processes from changing what is kept, until unlock.
func (s *Store) lock() (unlock func(), err error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep skills: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(s.dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep skills: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("keep skills: %w", err), file.Close())
	}
	return func() { _ = file.Close() }, nil // closing it unlocks
}

// mostPins bounds the file of pins, in bytes.
const mostPins = 4 << 20

func (s *Store) read() (pins, error) {
	all := pins{}
	info, err := os.Stat(filepath.Join(s.dir, pinsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil && info.Size() > mostPins {
		err = errors.New("it is too long")
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(filepath.Join(s.dir, pinsFile))
	}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read which skills are pinned, in %s: %w; remove that file to pin them anew", filepath.Join(s.dir, pinsFile), err)
	}
	if all == nil {
		all = pins{}
	}
	return all, nil
}

// write replaces the file of pins as a whole.
func (s *Store) write(all pins) error {
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := sheet.Write(filepath.Join(s.dir, pinsFile), append(raw, '\n')); err != nil {
		return fmt.Errorf("pin skills: %w", err)
	}
	return nil
}
