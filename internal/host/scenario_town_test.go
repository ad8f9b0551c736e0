package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// town is a network that is made up: it knows its people, keeps what was said, and writes down what reached it.
type town struct {
	called string

	mu       sync.Mutex
	hear     chat.Hear // of the bot that is connected
	lines    []string
	messages []chat.Message // of all places, as places has them
	places   []string
	said     map[chat.MessageID]chat.Event
	last     chat.Event
	posted   int
	came     int
	amended  int
	faults   map[string]int // how often what happens next fails, by the verbs of deeds
}

var (
	_ world   = (*town)(nil)
	_ adapter = (*town)(nil)
)

func newTown(name string) *town {
	return &town{called: name, said: map[chat.MessageID]chat.Event{}, faults: map[string]int{}}
}

func (w *town) name() string      { return w.called }
func (w *town) Name() string      { return w.called }
func (w *town) join(o *Options)   { o.Network = w }
func (*town) id(of string) string { return of[1:] }

func (w *town) Run(ctx context.Context, hear chat.Hear, up func()) error {
	w.mu.Lock()
	w.hear = hear
	w.mu.Unlock()
	up()
	<-ctx.Done()
	return nil
}

func (w *town) Self() chat.Person { return chat.Person{Platform: w.called, ID: "bot", Us: true} }

func (*town) Abilities() chat.Abilities {
	return chat.Abilities{React: true, Edit: true, Files: true, Chains: true, MaxFiles: 10, MaxFileBytes: 1 << 20}
}

func (*town) Emojis(context.Context, chat.Place) ([]chat.Emoji, error) {
	return []chat.Emoji{{Text: ":fern:", Reaction: ":fern:"}}, nil
}

// Direct is the private place of everybody but those whose name says that they take no messages.
func (w *town) Direct(_ context.Context, p chat.Person) (chat.Place, error) {
	if p.ID == "hermit" {
		return chat.Place{}, platform.ErrUnreachable
	}
	return w.place("dm-" + p.ID), nil
}

// place is a place by its id: what begins with dm is direct.
func (w *town) place(id string) chat.Place {
	p := chat.Place{Platform: w.called, ID: id, Kind: chat.Group, Guild: "g"}
	if strings.HasPrefix(id, "dm") {
		p.Kind, p.Guild = chat.Direct, ""
	}
	return p
}

func (w *town) Before(_ context.Context, place chat.Place, before chat.MessageID, limit int) (found []chat.Message, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, m := range w.messages {
		if m.ID == before {
			break
		}
		if w.places[i] == place.ID {
			found = append(found, m)
		}
	}
	return found[max(0, len(found)-limit):], nil
}

func (*town) Search(context.Context, chat.Place, string, int) ([]chat.Message, error) {
	return nil, platform.ErrUnsupported
}

func (*town) Fetch(context.Context, chat.Attachment) (io.ReadCloser, error) {
	return nil, platform.ErrUnsupported
}

func (w *town) does(d deed) (chat.MessageID, error) {
	switch d.verb {
	case "says":
		return w.says(d)
	case "edits", "recalls":
		return w.amends(d)
	case "repeats":
		return w.last.Message, w.tell(w.last)
	case "refuses", "limits", "loses":
		w.mu.Lock()
		defer w.mu.Unlock()
		w.faults[d.verb] = d.times
		return "", nil
	case "pulses":
		return "", w.tell(chat.Event{From: chat.Person{Platform: w.called, ID: pulse}})
	}
	return "", errNoSuch
}

// tell lets the bot hear an event.
func (w *town) tell(ev chat.Event) error {
	w.mu.Lock()
	hear := w.hear
	w.mu.Unlock()
	hear(context.Background(), ev)
	return nil
}

func (w *town) says(d deed) (chat.MessageID, error) {
	if d.sticker != "" || d.audience != "" {
		return "", errNoSuch
	}
	ev := chat.Event{At: time.Now(), Place: w.place(d.place), From: chat.Person{Platform: w.called, ID: d.who, Name: titled(d.who), Bot: d.bot},
		Addressed: !d.aside, ByProgram: d.program}
	said := chat.Said{Text: d.words, Album: d.album, ReplyTo: d.to}
	for _, f := range d.files {
		said.Attachments = append(said.Attachments, chat.Attachment{ID: f, Name: f, MIME: mimeOf(f), URL: "http://127.0.0.1:1/" + f})
	}
	ev.Body = said
	w.mu.Lock()
	w.came++
	ev.Message = chat.MessageID(fmt.Sprint("m", w.came))
	w.messages = append(w.messages, chat.Message{ID: ev.Message, From: ev.From, Text: d.words, At: ev.At, ReplyTo: said.ReplyTo,
		Attachments: said.Attachments, Addressed: ev.Addressed})
	w.places = append(w.places, d.place)
	ev.ID = chat.NewEventID("us", ev.Place, chat.KindSaid, string(ev.Message), "")
	w.said[ev.Message], w.last = ev, ev
	w.mu.Unlock()
	return ev.Message, w.tell(ev)
}

// amends is an edit or a recall of a message.
func (w *town) amends(d deed) (chat.MessageID, error) {
	ev, ok := w.said[d.of]
	if !ok {
		return "", fmt.Errorf("nobody said %s", d.of)
	}
	ev.At = time.Now()
	ev.Body = chat.Edited{Of: d.of, Text: d.words}
	if d.verb == "recalls" {
		ev.Body = chat.Recalled{Of: d.of}
	}
	w.mu.Lock()
	w.amended++
	for i := range w.messages {
		if w.messages[i].ID == d.of {
			w.messages[i].Text = d.words
			if d.verb == "recalls" {
				w.places[i] = ""
			}
		}
	}
	ev.ID = chat.NewEventID("us", ev.Place, ev.Body.Kind(), string(d.of), fmt.Sprint(w.amended))
	w.last = ev
	w.mu.Unlock()
	return d.of, w.tell(ev)
}

// What a network says that does not take something.
var (
	errRefused = errors.New("the network does not take this")
	errLater   = platform.Temporary{Err: errors.New("the network is busy")}
	errLost    = platform.Uncertain{Err: errors.New("the network went away while it answered")}
)

// meets reports whether a fault comes now.
func (w *town) meets(fault string) bool {
	if w.faults[fault] == 0 {
		return false
	}
	w.faults[fault]--
	return true
}

func (w *town) Do(_ context.Context, a chat.Action) (chat.Receipt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.meets("refuses"):
		return chat.Receipt{}, errRefused
	case w.meets("limits"):
		return chat.Receipt{}, errLater
	}
	done, err := w.take(a)
	if err == nil && w.meets("loses") {
		return chat.Receipt{}, errLost
	}
	return done, err
}

func (w *town) take(a chat.Action) (chat.Receipt, error) {
	where := a.Where().ID
	switch a := a.(type) {
	case chat.Say:
		return w.post(where, a.ReplyTo, a.Text)
	case chat.Ask:
		return w.post(where, a.ReplyTo, a.Text+"\n"+a.Words)
	case chat.SendFile:
		var names []string
		for _, f := range a.Files {
			names = append(names, fmt.Sprintf("[file %s]", f.Name))
		}
		return w.post(where, a.ReplyTo, strings.TrimSpace(strings.Join(names, " ")+" "+a.Text))
	case chat.Edit:
		w.write("%s: %s is now: %s", where, a.Message, a.Text)
		for i := range w.messages {
			if w.messages[i].ID == a.Message {
				w.messages[i].Text = a.Text
			}
		}
		return chat.Receipt{Message: a.Message, At: time.Now()}, nil
	case chat.React:
		w.write("%s: %s gets %s", where, a.Message, a.Emoji)
		for i := range w.messages {
			w.messages[i].Reacted = w.messages[i].Reacted || w.messages[i].ID == a.Message
		}
		return chat.Receipt{Message: a.Message, At: time.Now()}, nil
	}
	return chat.Receipt{}, platform.ErrUnsupported
}

// post takes a message of the bot's.
func (w *town) post(where string, to chat.MessageID, text string) (chat.Receipt, error) {
	w.posted++
	m := chat.Message{ID: chat.MessageID(fmt.Sprint("b", w.posted)), From: w.Self(), Text: text, At: time.Now(), ReplyTo: to}
	w.messages, w.places = append(w.messages, m), append(w.places, where)
	answers := ""
	if to != "" {
		answers = " to " + string(to)
	}
	w.write("%s: %s%s: %s", where, m.ID, answers, text)
	return chat.Receipt{Message: m.ID, At: m.At}, nil
}

func (w *town) write(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

func (w *town) reached() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lines...)
}
