package host

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/discord"
	"familiar/internal/platform/misskey"
)

// world is the network of a story: the town, which is made up, or a fake of a real network behind its real adapter.
type world interface {
	// name is the platform's word.
	name() string
	// id is the id of somebody (@ann) or of a place (#hall), whom the network knows from then on.
	id(of string) string
	// join lets a bot that is about to start be on the network.
	join(o *Options)
	// does lets a deed happen, and returns the message that it is about; "" for none.
	does(d deed) (chat.MessageID, error)
	// reached is what of the bot's reached the network so far: a line for each thing, in order.
	reached() []string
}

// deed is something that somebody does on a network, or that the network does.
type deed struct {
	verb       string // says, edits, recalls or repeats; refuses, limits, loses or drops; pulses
	who, place string
	words      string
	of         chat.MessageID // what is edited, taken back or delivered again
	to         chat.MessageID // what is answered
	times      int

	aside, bot, program      bool
	album, sticker, audience string
	files                    []string
}

// on is a network that a story is played on.
type on struct {
	name  string
	town  bool // it is the town under this name
	alike bool // the story is told as if it were the town called net, as it is on other networks
}

// networks are those that the first line of a story names.
func networks(first *scene) (all []on) {
	switch first.verb {
	case "town":
		return []on{{name: first.rest, town: true}}
	case "network":
		for _, name := range strings.Fields(first.rest) {
			all = append(all, on{name: name, town: name == "net"})
		}
		return all
	}
	return []on{{name: "net", town: true}}
}

// opens opens the network.
func (s *scenario) opens(network on) {
	s.t.Helper()
	s.names = newNames(network)
	switch {
	case network.town:
		s.net = newTown(network.name)
	case network.name == discord.Name:
		s.net = openDiscordWorld(s.t, s.names)
	case network.name == misskey.Name:
		s.net = openMisskeyWorld(s.t, s.names)
	default:
		s.t.Fatalf("line 1: there is no network %q", network.name)
	}
}

// pulse is somebody whom the bot never hears: that their words arrived shows that everything before them has.
const pulse = "pulse"

// errNoSuch is what a world says of a deed that its network does not have.
var errNoSuch = errors.New("there is no such thing on this network")

// adapter is what the host has of a network.
type adapter interface {
	platform.Platform
	platform.Historian
	platform.Fetcher
	platform.Guide
}

// wire is what stands between one run of the bot and the network. It knows what became of what was heard, and can be cut.
type wire struct {
	adapter
	pulse string

	mu     sync.Mutex
	cut    bool // the bot was killed: whatever it says now is not heard
	heard  []hearing
	pulses int
}

// hearing is what became of an event.
type hearing struct {
	message chat.MessageID
	outcome chat.Outcome
}

// between puts a wire between the bot and the network of the story.
func (s *scenario) between(p platform.Platform) platform.Platform {
	if p.Name() != s.net.name() {
		return p
	}
	s.wire = &wire{adapter: p.(adapter), pulse: s.net.id("@" + pulse)}
	return s.wire
}

// errDead is what a bot that was killed would be told if it still lived.
var errDead = errors.New("nobody is there any more")

func (w *wire) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	w.mu.Lock()
	cut := w.cut
	w.mu.Unlock()
	if cut {
		return chat.Receipt{}, errDead
	}
	return w.adapter.Do(ctx, a)
}

func (w *wire) Run(ctx context.Context, hear chat.Hear, up func()) error {
	return w.adapter.Run(ctx, func(ctx context.Context, ev chat.Event) chat.Outcome {
		if ev.From.ID == w.pulse {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.pulses++
			return chat.Ignored
		}
		outcome := hear(ctx, ev)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.heard = append(w.heard, hearing{ev.Message, outcome})
		return outcome
	}, up)
}

func (w *wire) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
}

// came is how much was heard so far: events, and pulses.
func (w *wire) came() (events, pulses int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.heard), w.pulses
}

// became is what became of a deed about a message, of all that was heard since; "" when it was accepted. What came to
// nobody's ears was not for the bot, or its adapter knew it.
func (w *wire) became(d deed, message chat.MessageID, since int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.heard[since:] {
		switch {
		case h.message != message:
		case h.outcome == chat.Accepted:
			return ""
		default:
			return h.outcome.String()
		}
	}
	if d.verb == "repeats" {
		return chat.Repeat.String()
	}
	return chat.Ignored.String()
}

// titled is the name that somebody shows.
func titled(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// mimeOf is what a network would say that a file of that name is.
func mimeOf(name string) string {
	if ext := filepath.Ext(name); slices.Contains([]string{".png", ".gif", ".webp"}, ext) {
		return "image/" + ext[1:]
	}
	return "application/octet-stream"
}

// content is what a file of that name holds: a small picture, or its own name.
func content(name string) []byte {
	if !strings.HasSuffix(name, ".png") {
		return []byte(name)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		panic(err) // into memory
	}
	return b.Bytes()
}
