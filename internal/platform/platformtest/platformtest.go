// Package platformtest is the contract that every platform must pass. A platform is done when Run is green on
// it, against a network that is faked outside of the adapter.
package platformtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// Network is a faked network with a platform on it, made anew for each check.
type Network struct {
	Platform platform.Platform
	// Deliver makes the network hand over a message of one person in one place; source is the network's own id of
	// it, and the same source again is a redelivery. It returns when the platform has taken or refused it.
	Deliver func(t *testing.T, source, text string)
	// Posted returns the texts of ours that people can read now in that place, in order.
	Posted func(t *testing.T) []string
	// File is a file that may be sent, where Abilities say Files.
	File chat.File
	// Close ends the faked network; nil when there is nothing to end.
	Close func()
}

// Rig makes networks.
type Rig struct {
	New func(t *testing.T) Network
}

// wait is how long a check waits for a condition. It is a limit for what hangs, not a measure.
const wait = 10 * time.Second

// Run runs every check.
func Run(t *testing.T, rig Rig) {
	t.Helper()
	for _, check := range []struct {
		name string
		run  func(t *testing.T, s *stage)
	}{
		{"RunEndsWithItsContext", runEnds},
		{"EventsAreNamedOnce", eventsAreNamedOnce},
		{"OrderOfAPlace", orderOfAPlace},
		{"AbilitiesAreKept", abilitiesAreKept},
		{"AKeyIsPostedOnce", keyIsPostedOnce},
		{"DoAtOnce", doAtOnce},
		{"HistoryIsOldestFirst", historyIsOldestFirst},
	} {
		t.Run(check.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			network := rig.New(t)
			s := start(t, network)
			check.run(t, s)
			s.stop(t)
			if network.Close != nil {
				network.Close()
			}
			if err := goleak.Find(before); err != nil {
				t.Errorf("after Run ended: %v", err)
			}
		})
	}
}

// stage is a platform that runs, and what it made heard.
type stage struct {
	Network
	cancel context.CancelFunc
	ended  chan error

	mu      sync.Mutex
	ups     int
	events  []chat.Event
	hearing map[string]int
	overlap bool
	changed chan struct{}
}

func start(t *testing.T, n Network) *stage {
	ctx, cancel := context.WithCancel(t.Context())
	s := &stage{Network: n, cancel: cancel, ended: make(chan error, 1), hearing: map[string]int{},
		changed: make(chan struct{})}
	t.Cleanup(cancel)
	go func() { s.ended <- n.Platform.Run(ctx, s.hear, s.up) }()
	s.until(t, "up is called", func() bool { return s.ups > 0 })
	return s
}

// stop ends Run, which must return nil, once.
func (s *stage) stop(t *testing.T) {
	t.Helper()
	s.cancel()
	if s.ended == nil {
		return
	}
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("Run returned %v when its context ended, want nil", err)
		}
	case <-time.After(wait):
		t.Fatal("Run did not return when its context ended")
	}
	s.ended = nil
}

func (s *stage) up() { s.change(func() { s.ups++ }) }

// hear accepts what is new and knows what is not, as the inbox does.
func (s *stage) hear(_ context.Context, ev chat.Event) chat.Outcome {
	outcome := chat.Accepted
	s.change(func() {
		if s.hearing[ev.Place.ID]++; s.hearing[ev.Place.ID] > 1 {
			s.overlap = true
		}
		if slices.ContainsFunc(s.events, func(e chat.Event) bool { return e.ID == ev.ID }) {
			outcome = chat.Repeat
		}
		s.events = append(s.events, ev)
	})
	s.change(func() { s.hearing[ev.Place.ID]-- })
	return outcome
}

func (s *stage) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits for a condition of what was heard.
func (s *stage) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit := time.After(wait)
	for {
		s.mu.Lock()
		ok, changed := holds(), s.changed
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// said delivers a message and returns its event.
func (s *stage) said(t *testing.T, source, text string) chat.Event {
	t.Helper()
	match := func(e chat.Event) bool { return e.Text() == text }
	s.Deliver(t, source, text)
	s.until(t, "the message is heard", func() bool { return slices.ContainsFunc(s.events, match) })
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events[slices.IndexFunc(s.events, match)]
}

// do does a and fails the test when that fails.
func (s *stage) do(t *testing.T, a chat.Action) chat.Receipt {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	receipt, err := s.Platform.Do(ctx, a)
	if err != nil {
		t.Fatalf("Do(%T): %v", a, err)
	}
	return receipt
}

func (s *stage) wantPosted(t *testing.T, want ...string) {
	t.Helper()
	if got := s.Posted(t); !slices.Equal(got, want) {
		t.Errorf("people read %q, want %q", got, want)
	}
}

// numbered makes n texts.
func numbered(word string, n int) (texts []string) {
	for i := range n {
		texts = append(texts, fmt.Sprintf("%s %d", word, i))
	}
	return texts
}

// isUnsupported says whether err is the seam's word for «never».
func isUnsupported(err error) bool { return errors.Is(err, platform.ErrUnsupported) }
