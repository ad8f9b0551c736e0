package room

import (
	"strings"
	"time"

	"familiar/internal/chat"
)

// arrival is an event that comes to a room.
type arrival struct {
	ev    chat.Event
	trust chat.Trust
	at    time.Time
}

// waiting is one turn in line: usually of one event.
type waiting struct {
	evs   []chat.Event
	trust chat.Trust // the lowest of theirs
	since time.Time  // when the first came
	until time.Time  // until when it waits for more that belongs to it
}

// mostParts is how many events become one turn: two albums of the networks that we know of.
const mostParts = 20

// waiting begins a turn that is to be. Only what may be a part of something waits for the rest of it.
func (a arrival) waiting(join time.Duration) waiting {
	w := waiting{evs: []chat.Event{a.ev}, trust: a.trust, since: a.at, until: a.at}
	if part(a.ev) {
		w.until = a.at.Add(join)
	}
	return w
}

// part reports whether more is likely to come that belongs to an event: other pictures of an album, or the words
// about a picture.
func part(ev chat.Event) bool {
	said, ok := ev.Body.(chat.Said)
	return ok && (said.Album != "" || len(said.Attachments) > 0 && strings.TrimSpace(said.Text) == "")
}

// joins adds an event to what waits for more of the same person, and reports whether something did. Media keep it
// waiting; words end the wait.
func (r *room) joins(a arrival, join time.Duration) bool {
	said, ok := a.ev.Body.(chat.Said)
	if !ok {
		return false
	}
	for i := len(r.queue) - 1; i >= 0; i-- {
		w := &r.queue[i]
		if !a.at.Before(w.until) || len(w.evs) == mostParts || !together(w.evs[0], a.ev) {
			continue
		}
		w.evs, w.trust, w.until = append(w.evs, a.ev), min(w.trust, a.trust), a.at
		if said.Album != "" || len(said.Attachments) > 0 {
			w.until = a.at.Add(join)
		}
		return true
	}
	return false
}

// together reports whether two events come from one person in one place.
func together(a, b chat.Event) bool { return a.Place.Same(b.Place) && a.From.Same(b.From) }
