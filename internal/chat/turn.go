package chat

import (
	"crypto/rand"
	"encoding/hex"
	"sync/atomic"
	"time"
)

// Trust is how far the source of some words is trusted; a bigger number is more.
type Trust int32

// The degrees of trust.
const (
	Foreign Trust = iota + 1 // mail, feeds, pages, tool results from outside
	Public                   // anybody who is heard in a group, and group history
	Known                    // allowlisted or paired
	Owner                    // the owner of this bot
)

func (t Trust) String() string {
	switch t {
	case Foreign:
		return "foreign"
	case Public:
		return "public"
	case Known:
		return "known"
	case Owner:
		return "owner"
	}
	return "unset"
}

// Standing is the trust that a turn has now. It only ever falls: a turn that reads something lower falls to
// it. Tools and the outbox read it. Safe for concurrent use; a nil Standing is Foreign.
type Standing struct{ now atomic.Int32 }

// NewStanding returns a standing of t.
func NewStanding(t Trust) *Standing {
	s := new(Standing)
	s.now.Store(int32(t))
	return s
}

// Now returns the present trust.
func (s *Standing) Now() Trust {
	if s == nil {
		return Foreign
	}
	return max(Trust(s.now.Load()), Foreign)
}

// Fall lowers the standing to t; it never raises it.
func (s *Standing) Fall(t Trust) {
	for s != nil {
		old := s.now.Load()
		if int32(t) >= old || s.now.CompareAndSwap(old, int32(t)) {
			return
		}
	}
}

// TurnKind says why a turn runs; each kind has its own quotas in the outbox.
type TurnKind string

// The kinds of turn.
const (
	Talk     TurnKind = "talk"     // somebody spoke to us
	Wake     TurnKind = "wake"     // a time came
	Job      TurnKind = "job"      // long work
	Approved TurnKind = "approved" // a deed that a person said yes to
	Notice   TurnKind = "notice"   // the host itself tells a person something: an apology, a command's answer
)

// Turn is one run of an agent, or one deed on somebody's behalf. It is a value; all copies share Standing.
type Turn struct {
	ID       TurnID
	Kind     TurnKind
	Place    Place
	From     Person
	Cause    []Event
	Began    time.Time
	Standing *Standing
}

// NewTurn returns a turn caused by ev, that begins at now with the given trust.
func NewTurn(kind TurnKind, ev Event, trust Trust, now time.Time) Turn {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return Turn{ID: TurnID("turn_" + hex.EncodeToString(id[:])), Kind: kind, Place: ev.Place, From: ev.From,
		Cause: []Event{ev}, Began: now, Standing: NewStanding(trust)}
}

// Trigger returns the event that the turn answers, the last of its causes.
func (t Turn) Trigger() (Event, bool) {
	if len(t.Cause) == 0 {
		return Event{}, false
	}
	return t.Cause[len(t.Cause)-1], true
}

// Deeds are what a turn has let somebody see.
type Deeds struct{ Replied, Reacted, FileSent bool }

// Any reports whether it was anything at all.
func (d Deeds) Any() bool { return d.Replied || d.Reacted || d.FileSent }

// Answers returns the message that a reply of this turn answers, or "".
func (t Turn) Answers() MessageID {
	ev, _ := t.Trigger()
	return ev.Message
}
