package explanation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"familiar/internal/chat"
)

// eventJSON is an event as operators write it down: the normalised form of a platform's event, and its kind.
type eventJSON struct {
	Kind        string           `json:"kind"`
	Platform    string           `json:"platform"`
	ChannelID   string           `json:"channel_id"`
	UserID      string           `json:"user_id"`
	Username    string           `json:"username"`
	MessageID   string           `json:"message_id"`
	IsDM        bool             `json:"is_dm"`
	GuildID     string           `json:"guild_id"`
	Content     string           `json:"content"`
	Timestamp   string           `json:"timestamp"`
	Attachments []attachmentJSON `json:"attachments"`
	Raw         json.RawMessage  `json:"raw"`

	// What only a platform knows, where it matters.
	Addressed *bool `json:"addressed"` // true when left out
	IsBot     bool  `json:"is_bot"`
	IsSelf    bool  `json:"is_self"`
}

type attachmentJSON struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	MIME     string `json:"mime_type"`
	Filename string `json:"filename"`
	Size     int64  `json:"size"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	IsImage  bool   `json:"is_image"`
}

// largestEvent bounds what is read, in bytes.
const largestEvent = 1 << 20

// Read reads one event. What is missing, misspelt or of another kind is an error that says what is allowed.
func Read(r io.Reader) (chat.Event, error) {
	data, err := io.ReadAll(io.LimitReader(r, largestEvent+1))
	if err != nil {
		return chat.Event{}, fmt.Errorf("read the event: %w", err)
	}
	if len(data) > largestEvent {
		return chat.Event{}, fmt.Errorf("the event is longer than %d bytes", largestEvent)
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	var raw eventJSON
	if err := in.Decode(&raw); err != nil {
		return chat.Event{}, fmt.Errorf("the event: %w%s", plain(err), known(err))
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return chat.Event{}, errors.New("the event: something stands behind the first one; explain takes one at a time")
	}
	return raw.event()
}

// plain says in words that people know what is wrong with the input.
func plain(err error) error {
	var kind *json.UnmarshalTypeError
	var form *json.SyntaxError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%s cannot be a %s", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("it must be a JSON object, not a %s", kind.Value)
	}
	if errors.As(err, &form) {
		return fmt.Errorf("it is not JSON: byte %d: %w", form.Offset, err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is not whole JSON")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// known lists the keys, where one was not known.
func known(err error) string {
	if !strings.Contains(err.Error(), "unknown field") {
		return ""
	}
	return "; there are kind, platform, channel_id, user_id, username, message_id, is_dm, guild_id, content, timestamp, " +
		"attachments, raw, addressed, is_bot and is_self"
}

func (e eventJSON) event() (chat.Event, error) {
	for _, field := range []struct{ name, value string }{{"platform", e.Platform}, {"channel_id", e.ChannelID}, {"user_id", e.UserID}} {
		if strings.TrimSpace(field.value) == "" {
			return chat.Event{}, fmt.Errorf("the event: %s is missing", field.name)
		}
	}
	ev := chat.Event{
		Place:     chat.Place{Platform: e.Platform, ID: e.ChannelID, Kind: chat.Group, Guild: e.GuildID},
		From:      chat.Person{Platform: e.Platform, ID: e.UserID, Name: e.Username, Bot: e.IsBot, Us: e.IsSelf},
		Message:   chat.MessageID(e.MessageID),
		Addressed: e.Addressed == nil || *e.Addressed,
	}
	if e.IsDM {
		ev.Place.Kind = chat.Direct
	}
	if e.Timestamp != "" {
		at, err := time.Parse(time.RFC3339, e.Timestamp)
		if err != nil {
			return chat.Event{}, fmt.Errorf("the event: timestamp %q is not ISO 8601, such as 2026-01-31T12:00:00Z", e.Timestamp)
		}
		ev.At = at
	}
	var err error
	if ev.Body, err = e.body(&ev.Place); err != nil {
		return chat.Event{}, err
	}
	ev.ID = chat.NewEventID("", ev.Place, ev.Body.Kind(), e.MessageID, "")
	return ev, nil
}

// placeKinds may stand in kind too, for a message said in such a place.
var placeKinds = []chat.PlaceKind{chat.Direct, chat.Group, chat.Broadcast, chat.Self}

func (e eventJSON) body(place *chat.Place) (chat.Body, error) {
	of := chat.MessageID(e.MessageID)
	kind := chat.BodyKind(e.Kind)
	if p := chat.PlaceKind(e.Kind); slices.Contains(placeKinds, p) {
		place.Kind, kind = p, chat.KindSaid
	}
	switch kind {
	case "", "message", chat.KindSaid:
		return chat.Said{Text: e.Content, Attachments: e.files()}, nil
	case chat.KindEdited:
		return chat.Edited{Of: of, Text: e.Content}, nil
	case chat.KindRecalled:
		return chat.Recalled{Of: of}, nil
	case chat.KindReacted:
		return chat.Reacted{To: of, Emoji: e.Content}, nil
	case chat.KindPressed:
		return chat.Pressed{Button: e.Content}, nil
	case chat.KindWoke:
		return chat.Woke{Job: "explained", Note: e.Content}, nil
	case chat.KindNoticed:
		return chat.Noticed{Surface: "explained", Text: e.Content}, nil
	case chat.KindSettled:
		return chat.Settled{Work: "explained", Text: e.Content}, nil
	}
	return nil, fmt.Errorf("the event: kind %q is none of said, edited, recalled, reacted, pressed, woke, noticed, settled "+
		"(nor of direct, group, broadcast, self for where something is said)", e.Kind)
}

func (e eventJSON) files() []chat.Attachment {
	var files []chat.Attachment
	for _, a := range e.Attachments {
		files = append(files, chat.Attachment{ID: a.ID, URL: a.URL, MIME: a.MIME, Name: a.Filename, Size: a.Size, Width: a.Width, Height: a.Height})
	}
	return files
}
