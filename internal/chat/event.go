package chat

import (
	"encoding/json"
	"fmt"
	"time"
)

// Event is one thing that happened: a value, never changed once emitted.
type Event struct {
	ID        EventID
	At        time.Time
	Place     Place
	From      Person
	Message   MessageID // the message it is about; empty when it is about none
	Addressed bool      // the platform's opinion: a mention, a reply to us, a direct message
	Body      Body

	// ByProgram says that a program sent it in the person's name. It may talk, and never says yes for them.
	ByProgram bool
}

// BodyKind names a kind of body; it is also its word in files.
type BodyKind string

// The kinds of body.
const (
	KindSaid     BodyKind = "said"
	KindEdited   BodyKind = "edited"
	KindRecalled BodyKind = "recalled"
	KindReacted  BodyKind = "reacted"
	KindPressed  BodyKind = "pressed"
	KindWoke     BodyKind = "woke"
	KindNoticed  BodyKind = "noticed"
	KindSettled  BodyKind = "settled"
)

// Body is what happened. The set is closed: the types of this file.
type Body interface{ Kind() BodyKind }

type (
	// Said is a message. Album is the platform's word for what the messages of one album share, "" for none. Revised
	// is when its text was last changed, before anybody took it up; zero when it is as it was said.
	Said struct {
		Text        string       `json:"text"`
		ReplyTo     MessageID    `json:"replyTo,omitempty"`
		Attachments []Attachment `json:"attachments,omitempty"`
		Album       string       `json:"album,omitempty"`
		Revised     time.Time    `json:"revised,omitzero"`
	}
	// Edited is a message whose text was changed after it was said. Event.At is when.
	Edited struct {
		Of   MessageID `json:"of"`
		Text string    `json:"text"`
	}
	// Recalled is a message that was taken back.
	Recalled struct {
		Of MessageID `json:"of"`
	}
	// Reacted is an emoji put on a message, or taken off it.
	Reacted struct {
		To      MessageID `json:"to"`
		Emoji   string    `json:"emoji"`
		Removed bool      `json:"removed,omitempty"`
	}
	// Pressed is a button of ours that somebody pressed. Button is the short opaque id that we gave it.
	Pressed struct {
		Button string `json:"button"`
	}
	// Woke is a time that came. Job says what for: the type of the session that it begins. Note is what that session
	// needs to know which of its kind it is, such as the id of a reminder; About is a message that it is about.
	Woke struct {
		Job   SessionType `json:"job"`
		Note  string      `json:"note,omitempty"`
		About *Message    `json:"about,omitempty"`
	}
	// Noticed is something of the outside world: a mail, a feed, a phone that came home.
	Noticed struct {
		Surface string `json:"surface"`
		Text    string `json:"text"`
	}
	// Settled is long work or an approved effect that ended.
	Settled struct {
		Work string `json:"work"`
		Text string `json:"text"`
	}
)

func (Said) Kind() BodyKind     { return KindSaid }
func (Edited) Kind() BodyKind   { return KindEdited }
func (Recalled) Kind() BodyKind { return KindRecalled }
func (Reacted) Kind() BodyKind  { return KindReacted }
func (Pressed) Kind() BodyKind  { return KindPressed }
func (Woke) Kind() BodyKind     { return KindWoke }
func (Noticed) Kind() BodyKind  { return KindNoticed }
func (Settled) Kind() BodyKind  { return KindSettled }

// Text returns the words of the event, or "" when its body has none.
func (e Event) Text() string {
	switch b := e.Body.(type) {
	case Said:
		return b.Text
	case Edited:
		return b.Text
	case Noticed:
		return b.Text
	case Settled:
		return b.Text
	case Woke:
		if b.About != nil {
			return b.About.Text
		}
	}
	return ""
}

// Concerns returns the message that an edit or a recall is about, "" for any other event.
func (e Event) Concerns() MessageID {
	switch b := e.Body.(type) {
	case Edited:
		return b.Of
	case Recalled:
		return b.Of
	}
	return ""
}

// Amend returns the message as an edit leaves it. It reports false for what is no message, and for an edit that is
// older than the one that the message has seen.
func (e Event) Amend(edit Event) (Event, bool) {
	said, ok := e.Body.(Said)
	edited, is := edit.Body.(Edited)
	if !ok || !is || edit.At.Before(said.Revised) {
		return e, false
	}
	said.Text, said.Revised = edited.Text, edit.At
	e.Body = said
	return e, true
}

// AsMessage returns a Said event as history tells it, and the message that a Woke event is about.
func (e Event) AsMessage() (Message, bool) {
	if woke, ok := e.Body.(Woke); ok && woke.About != nil {
		return *woke.About, true
	}
	said, ok := e.Body.(Said)
	if !ok {
		return Message{}, false
	}
	return Message{ID: e.Message, From: e.From, Text: said.Text, At: e.At,
		ReplyTo: said.ReplyTo, Attachments: said.Attachments}, true
}

// eventJSON is how an event lies in a file: the body beside its kind.
type eventJSON struct {
	ID        EventID         `json:"id"`
	At        time.Time       `json:"at"`
	Place     Place           `json:"place"`
	From      Person          `json:"from"`
	Message   MessageID       `json:"message,omitempty"`
	Addressed bool            `json:"addressed,omitempty"`
	ByProgram bool            `json:"byProgram,omitempty"`
	Kind      BodyKind        `json:"kind"`
	Body      json.RawMessage `json:"body"`
}

// MarshalJSON writes the event with its body's kind beside it.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Body == nil {
		return nil, fmt.Errorf("event %s has no body", e.ID)
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(eventJSON{e.ID, e.At, e.Place, e.From, e.Message, e.Addressed, e.ByProgram, e.Body.Kind(), body})
}

// UnmarshalJSON reads what MarshalJSON wrote; a kind that it does not know is an error.
func (e *Event) UnmarshalJSON(data []byte) error {
	var flat eventJSON
	if err := json.Unmarshal(data, &flat); err != nil {
		return err
	}
	body, err := decodeBody(flat.Kind, flat.Body)
	if err != nil {
		return fmt.Errorf("body of event %s: %w", flat.ID, err)
	}
	*e = Event{flat.ID, flat.At, flat.Place, flat.From, flat.Message, flat.Addressed, body, flat.ByProgram}
	return nil
}

// decoders has one entry for each kind of body.
var decoders = map[BodyKind]func(json.RawMessage) (Body, error){
	KindSaid: decodeAs[Said], KindEdited: decodeAs[Edited], KindRecalled: decodeAs[Recalled],
	KindReacted: decodeAs[Reacted], KindPressed: decodeAs[Pressed], KindWoke: decodeAs[Woke],
	KindNoticed: decodeAs[Noticed], KindSettled: decodeAs[Settled],
}

func decodeBody(kind BodyKind, data json.RawMessage) (Body, error) {
	decode, ok := decoders[kind]
	if !ok {
		return nil, fmt.Errorf("unknown kind %q", kind)
	}
	return decode(data)
}

func decodeAs[B Body](data json.RawMessage) (Body, error) {
	var body B
	err := json.Unmarshal(data, &body)
	return body, err
}
