package skillstore

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"familiar/internal/skill"
)

// Kept is one skill as its owner sees it.
type Kept struct {
	Name string    `json:"name"`
	Repo string    `json:"repo"`
	Hash string    `json:"hash"`
	At   time.Time `json:"at"` // since when it is pinned

	// What waits to take its place; "" when nothing does. From is where that comes from.
	Waiting string    `json:"waiting,omitempty"`
	From    string    `json:"waitingFrom,omitempty"`
	Since   time.Time `json:"waitingSince,omitzero"`
}

// Change is what the skill that waits would change in one file. A text that is not there is nil.
type Change struct {
	Path     string
	Old, New []byte
	Runs     bool // the new one can be run
}

// Text reports whether both sides can be shown.
func (c Change) Text() bool { return !bytes.ContainsRune(c.Old, 0) && !bytes.ContainsRune(c.New, 0) }

// List returns all skills that are kept, by name.
func (s *Store) List() ([]Kept, error) {
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	var list []Kept
	for name, p := range all {
		k := Kept{Name: name, Repo: p.Repo, Hash: p.Hash, At: p.At}
		if p.Waiting != nil {
			k.Waiting, k.From, k.Since = p.Waiting.Hash, p.Waiting.Repo, p.Waiting.At
		}
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b Kept) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// errNothing says that there is nothing to decide on.
var errNothing = errors.New("nothing of it waits; see: familiar skills ls")

// Changes returns what the skill that waits would change, by path, and its hash.
func (s *Store) Changes(name string) (changes []Change, hash string, err error) {
	all, err := s.read()
	if err != nil {
		return nil, "", err
	}
	p, known := all[name]
	if !known || p.Waiting == nil {
		return nil, "", fmt.Errorf("skill %s: %w", name, errNothing)
	}
	fresh, err := s.waits(name, *p.Waiting)
	if err != nil {
		return nil, "", err
	}
	old, err := skill.Read(filepath.Join(s.dir, admitted), name)
	if err != nil {
		old = skill.Skill{} // then all of it is new
	}
	return compare(old, fresh), p.Waiting.Hash, nil
}

// waits reads what waits, as it was fetched.
func (s *Store) waits(name string, o offer) (skill.Skill, error) {
	fresh, err := skill.Read(filepath.Join(s.dir, waiting), name)
	if err == nil && fresh.Hash() != o.Hash {
		err = fmt.Errorf("skill %s: what waits is not what was fetched; the next start fetches it again", name)
	}
	return fresh, err
}

func compare(old, fresh skill.Skill) (changes []Change) {
	before := map[string]skill.File{}
	for _, f := range old.Files {
		before[f.Path] = f
	}
	for _, f := range fresh.Files {
		was, there := before[f.Path]
		delete(before, f.Path)
		if !there || !bytes.Equal(was.Data, f.Data) || was.Exec != f.Exec {
			changes = append(changes, Change{Path: f.Path, Old: was.Data, New: f.Data, Runs: f.Exec})
		}
	}
	for path, f := range before {
		changes = append(changes, Change{Path: path, Old: f.Data})
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// Admit lets what waits in: from the next start on agents read it. hash, or the beginning of it, is what the owner has
// seen; "" takes what there is.
func (s *Store) Admit(name, hash string) error {
	return s.decide(name, hash, func(p *pin) error {
		fresh, err := s.waits(name, *p.Waiting)
		if err != nil {
			return err
		}
		// A crash before the pin is written leaves a folder that has not the pinned hash: nobody reads it, and what
		// waits is still there.
		if err := s.put(admitted, fresh); err != nil {
			return err
		}
		p.Repo, p.Hash, p.At, p.Rejected = p.Waiting.Repo, p.Waiting.Hash, s.now(), nil
		return nil
	})
}

// mostRejected bounds what is remembered of a skill that its owner does not want.
const mostRejected = 50

// Reject drops what waits; it is not offered again.
func (s *Store) Reject(name, hash string) error {
	return s.decide(name, hash, func(p *pin) error {
		p.Rejected = append(p.Rejected, p.Waiting.Hash)
		p.Rejected = p.Rejected[max(0, len(p.Rejected)-mostRejected):]
		return nil
	})
}

func (s *Store) decide(name, hash string, do func(*pin) error) error {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	p, known := all[name]
	switch {
	case !known || p.Waiting == nil:
		return fmt.Errorf("skill %s: %w", name, errNothing)
	case !strings.HasPrefix(p.Waiting.Hash, hash):
		return fmt.Errorf("skill %s: what waits is %s by now; look at it again with: familiar skills show %s", name, p.Waiting.Hash[:12], name)
	}
	if err := do(&p); err != nil {
		return err
	}
	p.Waiting = nil
	all[name] = p
	return errors.Join(s.write(all), s.drop(waiting, name))
}
