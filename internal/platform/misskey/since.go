package misskey

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"familiar/internal/kv"
)

// What was said while nobody listened is fetched, but only what is younger than lookBack: an answer to anything older
// helps nobody. slack is how far events may come out of their order.
const (
	lookBack = time.Hour
	slack    = time.Minute
)

// Marks is how the keys begin under which is remembered until when everything was heard. A copy of them that is older
// than what was answered since would have it answered again.
const Marks = "misskey:heard:" // and the account

// since knows until when everything was heard, also in earlier lives of the program.
type since struct {
	store kv.Store

	mu    sync.Mutex
	key   string
	until time.Time // of the newest event that was heard
	open  time.Time // of the oldest that was refused for now; zero for none
	saved time.Time
}

// load reads it, for an account. The first time it begins now: what was said before we came is not for us.
func (s *since) load(ctx context.Context, account string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == account {
		return nil
	}
	text, err := s.store.Load(ctx, Marks+account)
	switch {
	case errors.Is(err, kv.ErrMissing):
		s.until = time.Now().Truncate(time.Millisecond).Add(slack) // as exact as the instance's own times
	case err != nil:
		return err
	default:
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			ms = time.Now().UnixMilli()
		}
		s.until = time.UnixMilli(ms)
	}
	s.key = account
	return nil
}

// save writes it down, if it changed.
func (s *since) save(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.from()
	if at.Equal(s.saved) {
		return nil
	}
	err := s.store.Save(ctx, Marks+s.key, strconv.FormatInt(at.UnixMilli(), 10), 0)
	if err == nil {
		s.saved = at
	}
	return err
}

// heard notes that an event was heard. The time of a note from another instance is what that says: one that is still to
// come would hide what is said until then.
func (s *since) heard(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); at.After(now) {
		at = now
	}
	if at.After(s.until) {
		s.until = at
	}
}

func (s *since) behind(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open.IsZero() || at.Before(s.open) {
		s.open = at
	}
}

// from is the moment after which something may be missing.
func (s *since) from() time.Time {
	if !s.open.IsZero() && s.open.Before(s.until) {
		return s.open
	}
	return s.until
}

// missing returns that moment, for fetching; what was refused is then fetched too.
func (s *since) missing() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.from().Add(-slack)
	s.open = time.Time{}
	if oldest := time.Now().Add(-lookBack); from.Before(oldest) {
		return oldest
	}
	return from
}
