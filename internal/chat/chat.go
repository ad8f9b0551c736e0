// Package chat holds the words that every part of Familiar uses: what happened (Event), what to do about it
// (Action), where (Place), who (Person), and one run of an agent (Turn). It does no I/O, decides nothing and
// imports only the standard library, so that everybody may import it.
package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

type (
	// EventID names one thing that happened, once. It is the idempotency key of the inbox; see NewEventID.
	EventID string
	// MessageID is a platform's own name for a message. Only the platform that minted it reads it.
	MessageID string
	// TurnID names one run of an agent.
	TurnID string
	// RoomKey names the queue that an event waits in; see NewRoomKey.
	RoomKey string
)

// PlaceKind says what sort of place a conversation happens in; it decides who can overhear.
type PlaceKind string

// The kinds of place.
const (
	Direct    PlaceKind = "direct"    // one person and us
	Group     PlaceKind = "group"     // several people
	Broadcast PlaceKind = "broadcast" // a public thread or channel that anybody can read
	Self      PlaceKind = "self"      // our own timeline
)

// Place is where something happens. ID is opaque: only the platform that minted it reads it.
type Place struct {
	Platform string    `json:"platform"`
	ID       string    `json:"id"`
	Kind     PlaceKind `json:"kind"`
	Guild    string    `json:"guild,omitempty"` // the server or community that the place belongs to
}

// Private reports whether nobody but one person and we can read what is said there.
func (p Place) Private() bool { return p.Kind == Direct }

// Same reports whether p and q are one place, whatever is known of them besides.
func (p Place) Same(q Place) bool { return p.Platform == q.Platform && p.ID == q.ID }

// Person is somebody on a platform. The pair (Platform, ID) is the identity and is never joined into one
// string; Name is for display and may be anything that a person typed.
type Person struct {
	Platform string `json:"platform"`
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Bot      bool   `json:"bot,omitempty"` // the platform says that this is a program
	Us       bool   `json:"us,omitempty"`  // this is our own account
}

// Same reports whether p and q are one account.
func (p Person) Same(q Person) bool { return p.Platform == q.Platform && p.ID == q.ID }

// Called returns the name to show, falling back to the id.
func (p Person) Called() string {
	if name := strings.TrimSpace(p.Name); name != "" {
		return name
	}
	return p.ID
}

// Attachment is a file that came with a message. Size, Width and Height are 0 when unknown; what a platform
// says of MIME and Size is a claim, not a fact.
type Attachment struct {
	ID     string `json:"id"`
	URL    string `json:"url"`
	MIME   string `json:"mime"`
	Name   string `json:"name"`
	Size   int64  `json:"size,omitempty"` // bytes
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
}

// IsImage reports whether the attachment claims to be a picture.
func (a Attachment) IsImage() bool { return strings.HasPrefix(a.MIME, "image/") }

// Message is something that was said, as history tells it.
type Message struct {
	ID          MessageID    `json:"id"`
	From        Person       `json:"from"`
	Text        string       `json:"text"`
	At          time.Time    `json:"at"`
	ReplyTo     MessageID    `json:"replyTo,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`

	// What only platforms that keep their own history can tell: whether it mentions us, and whether we reacted to it.
	Addressed bool `json:"addressed,omitempty"`
	Reacted   bool `json:"reacted,omitempty"`
}

// Emoji is a custom emoji of a community: how it is written in a text, and how it is named as a reaction.
type Emoji struct {
	Category string // "" for none
	Text     string
	Reaction string
}

// Outcome is what became of an event that a source handed in.
type Outcome int

// The outcomes. A source that can ask its network to deliver again does so only after Busy.
const (
	Accepted Outcome = iota + 1 // durable; it will be answered or the person told why not
	Ignored                     // not for us; nothing was stored
	Refused                     // for us, but not from them or not now; nothing will come
	Busy                        // no room, or the disk refused it: not accepted, may be sent again
	Repeat                      // we had it already
)

func (o Outcome) String() string {
	switch o {
	case Accepted:
		return "accepted"
	case Ignored:
		return "ignored"
	case Refused:
		return "refused"
	case Busy:
		return "busy"
	case Repeat:
		return "repeat"
	}
	return "outcome " + strconv.Itoa(int(o))
}

// Hear is the one way in: every source calls it for everything that happens. It returns as soon as the event
// is durable (or turned away) and never waits for an agent. Safe for concurrent use.
type Hear func(ctx context.Context, ev Event) Outcome

// NewEventID derives the id of an event from what makes it that event: the account of ours that heard it, the
// place, the kind of body, the source's own id, and the revision (so that an edit is not a repeat). An id that
// a caller chose cannot collide with one of another place.
func NewEventID(account string, place Place, kind BodyKind, source, revision string) EventID {
	return EventID(digest(account, place.Platform, place.ID, string(kind), source, revision))
}

// NewRoomKey makes a key from parts that may hold any character; equal parts give equal keys, and no two lists
// of parts give the same one.
func NewRoomKey(parts ...string) RoomKey { return RoomKey(digest(parts...)) }

// digest hashes parts without letting one run into the next: each is preceded by its length.
func digest(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
