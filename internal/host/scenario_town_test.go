package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// town is the network of a story: it knows its people, keeps what was said, and writes down what reached it.
type town struct {
	name string

	mu       sync.Mutex
	lines    []string
	messages []chat.Message // of all places, as places has them
	places   []string
	posted   int
	came     int
}

func newTown(name string) *town { return &town{name: name} }

// wire is the connection of one run of the bot.
type wire struct {
	*town
	*network

	mu  sync.Mutex
	cut bool // the bot was killed: whatever it says now is not heard

	refuses int // so many times nothing is taken
}

func (w *wire) Name() string      { return w.name }
func (w *wire) Self() chat.Person { return w.self() }
func (w *wire) Do(_ context.Context, a chat.Action) (chat.Receipt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return chat.Receipt{}, errDead
	}
	if w.refuses > 0 {
		w.refuses--
		return chat.Receipt{}, errRefused
	}
	return w.do(a)
}

// errDead is what a bot that was killed would be told if it still lived.
var errDead = errors.New("nobody is there any more")

// errRefused is what the network says when it takes something neither now nor later.
var errRefused = errors.New("the network does not take this")

func (w *wire) refuse(times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuses = times
}

func (w *wire) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
}

func (w *town) self() chat.Person { return chat.Person{Platform: w.name, ID: "bot", Us: true} }

func (w *wire) Abilities() chat.Abilities {
	return chat.Abilities{React: true, Edit: true, Files: true, Chains: true, MaxFiles: 10, MaxFileBytes: 1 << 20}
}

func (w *town) Emojis(context.Context, chat.Place) ([]chat.Emoji, error) {
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
	p := chat.Place{Platform: w.name, ID: id, Kind: chat.Group, Guild: "g"}
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

func (w *town) Search(context.Context, chat.Place, string, int) ([]chat.Message, error) {
	return nil, platform.ErrUnsupported
}

// hears keeps a message of somebody, and gives it an id.
func (w *town) hears(place string, m chat.Message) chat.MessageID {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.came++
	m.ID = chat.MessageID(fmt.Sprint("m", w.came))
	w.messages, w.places = append(w.messages, m), append(w.places, place)
	return m.ID
}

// changes edits a message that is kept, or takes it away.
func (w *town) changes(id chat.MessageID, text string, gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.messages {
		if w.messages[i].ID != id {
			continue
		}
		w.messages[i].Text = text
		if gone {
			w.places[i] = ""
		}
	}
}

func (w *town) do(a chat.Action) (chat.Receipt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
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
	m := chat.Message{ID: chat.MessageID(fmt.Sprint("b", w.posted)), From: w.self(), Text: text, At: time.Now(), ReplyTo: to}
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

func (w *town) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lines...)
}
