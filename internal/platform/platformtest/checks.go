package platformtest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

func runEnds(t *testing.T, s *stage) {
	if name := s.Platform.Name(); name == "" {
		t.Error("the platform has no name")
	}
	s.stop(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ups != 1 {
		t.Errorf("up was called %d times for one connection", s.ups)
	}
}

// eventsAreNamedOnce checks what an event is made of: one id for one thing, the same when it is delivered again.
func eventsAreNamedOnce(t *testing.T, s *stage) {
	first := s.said(t, "source-1", "first")
	second := s.said(t, "source-2", "second")
	s.mu.Lock()
	before := len(s.events)
	s.mu.Unlock()
	s.Deliver(t, "source-1", "first")
	again := func() bool {
		return !slices.ContainsFunc(s.events[before:], func(e chat.Event) bool { return e.ID != first.ID })
	}
	s.mu.Lock()
	if !again() { // a platform may know the repeat itself; if it hands it in, then under the same name
		t.Error("a redelivery got an id of its own")
	}
	s.mu.Unlock()
	if first.ID == "" || first.ID == second.ID {
		t.Errorf("ids %q and %q of two messages", first.ID, second.ID)
	}
	for _, ev := range []chat.Event{first, second} {
		name := s.Platform.Name()
		if ev.Place.Platform != name || ev.From.Platform != name {
			t.Errorf("place %+v, person %+v: the platform is %q", ev.Place, ev.From, name)
		}
		if ev.Place.ID == "" || ev.Place.Kind == "" || ev.From.ID == "" || ev.Message == "" || ev.At.IsZero() {
			t.Errorf("the event lacks something: %+v", ev)
		}
		if ev.From.Us || ev.Body.Kind() != chat.KindSaid {
			t.Errorf("a person's message came as %+v", ev)
		}
	}
	if !first.Place.Same(second.Place) || !first.From.Same(second.From) || first.Message == second.Message {
		t.Errorf("two messages of one person in one place: %+v and %+v", first, second)
	}
}

func orderOfAPlace(t *testing.T, s *stage) {
	texts := numbered("word", 20)
	for _, text := range texts {
		s.Deliver(t, text, text)
	}
	s.until(t, "everything is heard", func() bool { return len(s.events) >= len(texts) })
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, text := range texts {
		if got := s.events[i].Text(); got != text {
			t.Fatalf("event %d is %q, want %q", i, got, text)
		}
	}
	if s.overlap {
		t.Error("two events of one place were heard at once")
	}
}

// abilitiesAreKept does each action that Abilities promise, and sees the others refused.
func abilitiesAreKept(t *testing.T, s *stage) {
	heard := s.said(t, "source", "hello")
	can, place := s.Platform.Abilities(), heard.Place
	sent := s.do(t, chat.Say{Place: place, Text: "a reply", ReplyTo: heard.Message, Key: "k1"})
	if sent.Message == "" || sent.At.IsZero() {
		t.Errorf("the receipt of a message is %+v", sent)
	}
	s.wantPosted(t, "a reply")
	for _, a := range []struct {
		can bool
		do  chat.Action
	}{
		{can.React, chat.React{Place: place, Message: heard.Message, Emoji: "👍"}},
		{can.Typing, chat.Typing{Place: place}},
		{can.Buttons, chat.Ask{Place: place, Text: "?", Options: []chat.Option{{ID: "y", Label: "Yes"}}}},
		{can.Files, chat.SendFile{Place: place, Files: []chat.File{s.File}}},
		{can.Progress, chat.Show{Place: place, Turn: "turn", Progress: chat.Progress{Stage: chat.TurnStarted}}},
		{can.Edit, chat.Edit{Place: place, Message: sent.Message, Text: "a better reply", ReplyTo: heard.Message}},
	} {
		receipt, err := s.Platform.Do(t.Context(), a.do)
		if a.can && err != nil || !a.can && !isUnsupported(err) {
			t.Errorf("Do(%T) gives %v, and the ability is %v", a.do, err, a.can)
		}
		if _, edit := a.do.(chat.Edit); edit && a.can {
			sent = receipt
			s.wantPosted(t, "a better reply")
		}
	}
	_, err := s.Platform.Do(t.Context(), chat.Delete{Place: place, Message: sent.Message})
	if can.Delete && err != nil || !can.Delete && !isUnsupported(err) {
		t.Errorf("Do(Delete) gives %v, and the ability is %v", err, can.Delete)
	}
	if can.Delete && len(s.Posted(t)) != 0 {
		t.Errorf("after Delete people still read %q", s.Posted(t))
	}
}

func keyIsPostedOnce(t *testing.T, s *stage) {
	place := s.said(t, "source", "hello").Place
	if !s.Platform.Abilities().Idempotent {
		t.Log("the platform knows no keys")
		return
	}
	var wg sync.WaitGroup
	receipts := make([]chat.Receipt, 8)
	for i := range receipts {
		wg.Go(func() {
			receipt, err := s.Platform.Do(t.Context(), chat.Say{Place: place, Text: "once", Key: "key"})
			if err != nil {
				t.Error(err)
			}
			receipts[i] = receipt
		})
	}
	wg.Wait()
	other := s.do(t, chat.Say{Place: place, Text: "another", Key: "other key"})
	for _, r := range receipts {
		if r.Message != receipts[0].Message || r.Message == other.Message || r.Message == "" {
			t.Errorf("one key gave %v, another %v", receipts, other)
		}
	}
	s.wantPosted(t, "once", "another")
}

func doAtOnce(t *testing.T, s *stage) {
	place := s.said(t, "source", "hello").Place
	texts := numbered("reply", 16)
	var wg sync.WaitGroup
	for _, text := range texts {
		wg.Go(func() {
			if _, err := s.Platform.Do(t.Context(), chat.Say{Place: place, Text: text, Key: text}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	posted := s.Posted(t)
	slices.Sort(posted)
	slices.Sort(texts)
	if !slices.Equal(posted, texts) {
		t.Errorf("people read %q, want %q in any order", posted, texts)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Platform.Do(ended, chat.Say{Place: place, Text: "too late"}); err == nil {
		t.Error("Do said yes although its context had ended")
	}
}

func historyIsOldestFirst(t *testing.T, s *stage) {
	past, ok := s.Platform.(platform.Historian)
	if !ok {
		t.Log("the platform tells no history")
		return
	}
	place := s.said(t, "a", "alpha").Place
	s.said(t, "b", "beta")
	last := s.said(t, "c", "gamma")
	for _, c := range []struct {
		before chat.MessageID
		limit  int
		want   []string
	}{{"", 2, []string{"beta", "gamma"}}, {last.Message, 5, []string{"alpha", "beta"}}} {
		found, err := past.Before(t.Context(), place, c.before, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range found {
			texts = append(texts, m.Text)
		}
		if !slices.Equal(texts, c.want) {
			t.Errorf("before %q, at most %d: %q, want %q", c.before, c.limit, texts, c.want)
		}
	}
	_, err := past.Search(t.Context(), place, "alpha", 5)
	if can := s.Platform.Abilities().Search; can && err != nil || !can && !isUnsupported(err) {
		t.Errorf("Search gives %v, and the ability is %v", err, can)
	}
}
