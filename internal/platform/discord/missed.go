package discord

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"familiar/internal/chat"
)

// A session that cannot be taken up again, or a restart, leaves a gap of which the gateway tells nothing. So we remember
// where we were spoken to lately, and read there what was said since.
const (
	// Marks is how the keys begin under which is remembered how far we have heard. A copy of them that is older than
	// what was answered since would have it answered again.
	Marks = "discord.heard." // and the channel; the value is its server and the last message that was for us

	heardFor   = 24 * time.Hour   // how long a channel is remembered
	missedFor  = time.Hour        // nobody waits longer for an answer
	mostPlaces = 200              // channels that are read
	missedTime = 20 * time.Second // for all of them
)

// mark remembers that a message was heard. It is not lost for the want of this note.
func (d *Discord) mark(ctx context.Context, ev chat.Event) {
	if d.store == nil {
		return
	}
	if err := d.store.Save(ctx, Marks+ev.Place.ID, ev.Place.Guild+" "+string(ev.Message), heardFor); err != nil {
		d.log.Warn("where we were spoken to is not remembered", chat.KeyErr, err)
	}
}

// missed hands on what was said to us since we were here last, the oldest of a channel first.
func (g *gateway) missed(ctx context.Context) {
	if g.store == nil {
		return
	}
	ctx, done := context.WithTimeout(ctx, missedTime)
	defer done()
	keys, err := g.store.List(ctx, Marks)
	var heard map[string]string
	if err == nil {
		heard, err = g.store.Many(ctx, keys...)
	}
	if err != nil {
		g.log.Warn("what was said meanwhile is not known", chat.KeyErr, err)
		return
	}
	// Where we were spoken to last comes first: ids grow with time.
	slices.SortFunc(keys, func(a, b string) int { return older(last(heard[b]), last(heard[a])) })
	for _, key := range keys[:min(len(keys), mostPlaces)] {
		guild, since, _ := strings.Cut(heard[key], " ")
		channel := strings.TrimPrefix(key, Marks)
		if ids(channel, since) != nil || since == "" {
			continue
		}
		said, err := g.since(ctx, channel, since)
		if err != nil {
			g.log.Warn("what was said in a channel meanwhile is not known", chat.KeyErr, err)
		}
		for _, m := range said {
			m.GuildID = guild
			if m.spoken() && time.Since(m.At) < missedFor && g.event(m).Addressed {
				g.wrote(ctx, m, false)
			}
		}
	}
}

// since reads what was said in a channel after a message, the oldest first; beside an error, what comes before the gap. It
// begins no earlier than it matters: where much is said, the message may lie thousands back.
func (d *Discord) since(ctx context.Context, channel, after string) (said []message, err error) {
	if floor := idAt(time.Now().Add(-missedFor)); older(after, floor) < 0 {
		after = floor
	}
	for range mostPages {
		page, err := get[[]message](ctx, d, at(rest.GetMessages, discord.QueryValues{"after": after, "limit": mostMessages}, channel))
		if err != nil {
			return said, err
		}
		slices.SortFunc(page, func(a, b message) int { return older(a.ID, b.ID) })
		said = append(said, page...)
		if len(page) < mostMessages {
			break
		}
		after = page[len(page)-1].ID
	}
	return said, nil
}

// epoch is when Discord's time begins, in milliseconds since 1970.
const epoch = 1_420_070_400_000

// idAt is the first id of a moment.
func idAt(t time.Time) string { return strconv.FormatInt(max(t.UnixMilli()-epoch, 0)<<22, 10) }

func last(value string) string {
	_, message, _ := strings.Cut(value, " ")
	return message
}

// older compares ids: they grow with time.
func older(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
