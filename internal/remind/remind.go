// Package remind reminds people of what they asked to be reminded of. Reminders of a person lie in an append-only file
// of their workspace: a reminder is a line that is never changed, and a patch line switches it off once it was
// delivered or taken back. A reminder is delivered at least once: it stays on until somebody says that it went out, and
// one that cannot be delivered is tried again a few times, ever later, and then given up for good.
package remind

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/journal"
)

// Reminder is one reminder as it stands after its patches.
type Reminder struct {
	ID       string
	Person   chat.Person
	Place    string // the id of the direct place that it was asked for in; "" when nobody knows
	Message  string
	At       time.Time
	Created  time.Time
	Enabled  bool
	Attempts int // deliveries that failed

	notTill time.Time
}

// MaxAttempts is how often a delivery is tried; after that the reminder is given up.
const MaxAttempts = 5

// backoff is how long after a failed try the next one comes, by the number of those that failed.
var backoff = [MaxAttempts]time.Duration{0, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}

// maxMessage bounds what a person may be reminded of, in bytes.
const maxMessage = 4000

// Store keeps everybody's reminders. Safe for concurrent use; every call reads or writes files.
type Store struct {
	cfg    Config
	folder func(platform, user string) (string, error)
	people func() ([]chat.Person, error)
	now    func() time.Time

	mu sync.Mutex // one reader or writer at a time: looking and then writing must not mix
}

// Deps is where the files are. Folder makes sure of a person's workspace folder; People lists those who have one.
type Deps struct {
	Folder func(platform, user string) (string, error)
	People func() ([]chat.Person, error)
	Now    func() time.Time
}

// Open returns the reminders.
func Open(cfg Config, d Deps) *Store {
	return &Store{cfg: cfg, folder: d.Folder, people: d.People, now: d.Now}
}

// ErrInvalid says what is wrong with a wish, in words for whoever made it.
type ErrInvalid string

func (e ErrInvalid) Error() string { return string(e) }

// Set keeps a reminder for a person, on the disk when it returns. place is the direct place of the conversation.
func (s *Store) Set(ctx context.Context, of chat.Person, place string, at time.Time, message string) (Reminder, error) {
	now := s.now()
	least := time.Duration(s.cfg.MinIntervalMs) * time.Millisecond
	message = strings.TrimSpace(strings.ToValidUTF8(message, "\ufffd"))
	switch {
	case at.UTC().Year() > 9999: // which cannot be written down
		return Reminder{}, ErrInvalid("scheduledAt must lie before the year 10000")
	case at.Before(now.Add(least)):
		return Reminder{}, ErrInvalid(fmt.Sprintf("scheduledAt must be at least %s from now, after %s", least, stamp(now.Add(least))))
	case message == "":
		return Reminder{}, ErrInvalid("message must not be blank")
	case len(message) > maxMessage:
		return Reminder{}, ErrInvalid(fmt.Sprintf("message must have at most %d bytes", maxMessage))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read(ctx, of)
	if err != nil {
		return Reminder{}, fmt.Errorf("set reminder: %w", err)
	}
	if len(s.active(all)) >= s.cfg.MaxRemindersPerUser {
		return Reminder{}, ErrInvalid(fmt.Sprintf("there are %d reminders already, and no more may wait; cancel one first", s.cfg.MaxRemindersPerUser))
	}
	r := Reminder{ID: mint(now), Person: of, Place: place, Message: message, At: at.UTC().Truncate(time.Millisecond), Created: now.UTC(), Enabled: true}
	raw, err := r.entry()
	if err == nil {
		err = s.write(of, raw)
	}
	if err != nil {
		return Reminder{}, fmt.Errorf("set reminder: %w", err)
	}
	return r, nil
}

// Cancel takes a person's reminder back.
func (s *Store) Cancel(ctx context.Context, of chat.Person, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.find(ctx, of, id)
	if err != nil {
		return err
	}
	if !r.Enabled {
		return ErrInvalid("that reminder was delivered or cancelled already")
	}
	return s.switchOff(r)
}

// Find returns a person's reminder.
func (s *Store) Find(ctx context.Context, of chat.Person, id string) (Reminder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(ctx, of, id)
}

func (s *Store) find(ctx context.Context, of chat.Person, id string) (Reminder, error) {
	all, err := s.read(ctx, of)
	if err != nil {
		return Reminder{}, fmt.Errorf("find reminder: %w", err)
	}
	at := slices.IndexFunc(all, func(r Reminder) bool { return r.ID == id && r.Person.Same(of) })
	if at < 0 {
		return Reminder{}, ErrInvalid("there is no reminder of that id")
	}
	return all[at], nil
}

// Active lists what a person will be reminded of, the next first.
func (s *Store) Active(ctx context.Context, of chat.Person) ([]Reminder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.read(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("list reminders: %w", err)
	}
	return s.active(all), nil
}

// active are the reminders that are on and still to come.
func (s *Store) active(all []Reminder) []Reminder {
	now := s.now()
	all = slices.DeleteFunc(slices.Clone(all), func(r Reminder) bool { return !r.Enabled || !r.At.After(now) })
	slices.SortStableFunc(all, func(a, b Reminder) int { return a.At.Compare(b.At) })
	return all
}

// Due lists the reminders of everybody whose time has come, the oldest first, also when nobody looked for a long time.
// What of somebody cannot be read is an error beside the list of the others.
func (s *Store) Due(ctx context.Context) (due []Reminder, err error) {
	everybody, err := s.people()
	if err != nil {
		return nil, fmt.Errorf("list reminders: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, errs := s.now(), []error(nil)
	for _, person := range everybody {
		all, err := s.read(ctx, person)
		if err != nil {
			errs = append(errs, fmt.Errorf("the reminders of somebody on %s: %w", person.Platform, err))
		}
		for _, r := range all {
			if r.Enabled && !r.At.After(now) && !r.waits(now) && r.Person.Same(person) {
				due = append(due, r)
			}
		}
	}
	slices.SortStableFunc(due, func(a, b Reminder) int { return a.At.Compare(b.At) })
	return due, errors.Join(errs...)
}

// waits reports whether the next try is still to come. A time that is farther away than any try is put off was noted
// before the wall clock was put back.
func (r Reminder) waits(now time.Time) bool {
	return r.notTill.After(now) && !r.notTill.After(now.Add(backoff[MaxAttempts-1]))
}

// Close switches a reminder off: it was delivered, or never can be.
func (s *Store) Close(r Reminder) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.switchOff(r)
}

// Failed notes a try that delivered nothing, and reports whether there is to be another one. When there is not, the
// reminder still has to be closed.
func (s *Store) Failed(r Reminder) (again bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Attempts++
	if r.Attempts >= MaxAttempts {
		return false, nil
	}
	now := s.now()
	raw, err := patch(r.ID, now, changes{Attempts: r.Attempts, NotTill: stamp(now.Add(backoff[r.Attempts]))})
	if err == nil {
		err = s.write(r.Person, raw)
	}
	if err != nil {
		return true, fmt.Errorf("note a failed reminder: %w", err)
	}
	return true, nil
}

func (s *Store) switchOff(r Reminder) error {
	off := false
	raw, err := patch(r.ID, s.now(), changes{Enabled: &off})
	if err == nil {
		err = s.write(r.Person, raw)
	}
	if err != nil {
		return fmt.Errorf("close reminder: %w", err)
	}
	return nil
}

// read reads a person's file; a missing one is empty.
func (s *Store) read(ctx context.Context, of chat.Person) ([]Reminder, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	folder, err := s.folder(of.Platform, of.ID)
	if err != nil {
		return nil, err
	}
	in, err := os.Open(filepath.Join(folder, s.cfg.PersistPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var p parsed
	if _, err := journal.Scan(in, p.add); err != nil {
		return nil, err
	}
	return p.resolve(), nil
}

// write adds a line to a person's file, on the disk when it returns.
func (s *Store) write(of chat.Person, raw []byte) error {
	folder, err := s.folder(of.Platform, of.ID)
	if err != nil {
		return err
	}
	out, err := journal.Open(filepath.Join(folder, s.cfg.PersistPath), journal.Options{Sync: true})
	if err != nil {
		return err
	}
	return errors.Join(out.Append(raw), out.Close())
}

// mint makes an id: rem_, the milliseconds, and eight hex digits (air-friends spec §7.5).
func mint(now time.Time) string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	return fmt.Sprintf("rem_%d_%s", now.UnixMilli(), hex.EncodeToString(random[:]))
}
