package briefing

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// Sources are where the material of a briefing comes from. Each func is bounded by its owner in size and time,
// and safe for concurrent use; a nil one has nothing.
type Sources struct {
	// Important returns the enabled memories of high importance about the person of a turn, oldest first; in a
	// private place those from direct messages too. It lowers the turn to the standing of what it returns.
	Important func(ctx context.Context, t chat.Turn) ([]string, error)
	// Recent returns at most limit messages of a place before the given one, oldest first.
	Recent func(ctx context.Context, place chat.Place, before chat.MessageID, limit int) ([]chat.Message, error)
	// RecentLimit is the limit for Recent; 0 means 20.
	RecentLimit int
	// Related finds messages near the place that have to do with a text, oldest first; nil where the platform
	// cannot search.
	Related func(ctx context.Context, place chat.Place, query string, limit int) ([]chat.Message, error)
	// Emojis returns the custom emojis that can be used in a place.
	Emojis func(ctx context.Context, place chat.Place) ([]chat.Emoji, error)
	// Fetch opens a file that came with a message of the turn, said in that place.
	Fetch func(ctx context.Context, place chat.Place, file chat.Attachment) (io.ReadCloser, error)
}

// The numbers of messages that are asked for.
const (
	recentLimit  = 20
	relatedLimit = 10
)

// Material is everything that a briefing is made of. Messages are oldest first.
type Material struct {
	Memories []string
	Recent   []chat.Message
	Related  []chat.Message
	Emojis   []chat.Emoji
	Current  []chat.Message // what is to be answered: usually one
	Images   []agent.Image
}

// Gather collects the material of a turn. Only recent talk must be there: it fails when that does; anything
// else that cannot be had is left out with a warning. Talk of other people in it lowers the turn's standing to
// Public.
func Gather(ctx context.Context, src Sources, r Request, log *slog.Logger) (Material, error) {
	g := gathering{src: src, turn: r.Turn, log: log.With(chat.KeyTurn, string(r.Turn.ID))}
	m := Material{Current: current(r.Turn)}
	m.Memories = g.memories(ctx)
	recent, err := g.recent(ctx)
	if err != nil {
		return Material{}, fmt.Errorf("fetch recent messages: %w", err)
	}
	m.Recent = without(sinceClear(recent), m.Current)
	m.Related = without(without(g.related(ctx, m.Current), m.Current), m.Recent)
	m.Emojis = g.emojis(ctx)
	if r.Can.Image && src.Fetch != nil {
		m.Images = g.images(ctx, m.Current)
	}
	if slices.ContainsFunc(slices.Concat(m.Recent, m.Related), g.foreign) {
		r.Turn.Standing.Fall(chat.Public)
	}
	return m, nil
}

// gathering is one run of Gather.
type gathering struct {
	src  Sources
	turn chat.Turn
	log  *slog.Logger
}

func (g gathering) memories(ctx context.Context) []string {
	if g.src.Important == nil {
		return nil
	}
	memories, err := g.src.Important(ctx, g.turn)
	g.warn("no memories for a briefing", err)
	return memories
}

func (g gathering) recent(ctx context.Context) ([]chat.Message, error) {
	if g.src.Recent == nil {
		return nil, nil
	}
	limit := g.src.RecentLimit
	if limit <= 0 {
		limit = recentLimit
	}
	var before chat.MessageID
	if len(g.turn.Cause) > 0 {
		before = g.turn.Cause[0].Message
	}
	return g.src.Recent(ctx, g.turn.Place, before, limit)
}

// related asks for talk from elsewhere in the community. A text without words would match everything.
func (g gathering) related(ctx context.Context, asked []chat.Message) []chat.Message {
	place := g.turn.Place
	if g.src.Related == nil || place.Private() || place.Guild == "" {
		return nil
	}
	var query []string
	for _, m := range asked {
		query = append(query, strings.Fields(m.Text)...)
	}
	if len(query) == 0 {
		return nil
	}
	related, err := g.src.Related(ctx, place, strings.Join(query, " "), relatedLimit)
	g.warn("no related messages for a briefing", err)
	return related
}

func (g gathering) emojis(ctx context.Context) []chat.Emoji {
	if g.src.Emojis == nil {
		return nil
	}
	emojis, err := g.src.Emojis(ctx, g.turn.Place)
	g.warn("no emojis for a briefing", err)
	return emojis
}

// foreign reports whether a message is neither of the person who is answered nor of ours.
func (g gathering) foreign(m chat.Message) bool { return !m.From.Us && !m.From.Same(g.turn.From) }

func (g gathering) warn(say string, err error) {
	if err != nil {
		g.log.Warn(say, chat.KeyErr, err)
	}
}

// current returns what the turn answers: every message that caused it, or the words of another kind of event.
func current(t chat.Turn) []chat.Message {
	var asked []chat.Message
	for _, ev := range t.Cause {
		m, ok := ev.AsMessage()
		if !ok {
			m = chat.Message{ID: ev.Message, From: ev.From, Text: ev.Text(), At: ev.At}
		}
		asked = append(asked, m)
	}
	return asked
}

// without returns the messages that are not among known.
func without(messages, known []chat.Message) []chat.Message {
	return slices.DeleteFunc(slices.Clone(messages), func(m chat.Message) bool {
		return slices.ContainsFunc(known, func(k chat.Message) bool { return k.ID != "" && k.ID == m.ID })
	})
}
