package discord

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"familiar/internal/chat"
)

// The bounds of what is read.
const (
	mostMessages = 100 // of one call
	mostPages    = 5   // calls that go on where the one before ended
	searched     = 50  // messages that a search looks through
	fetchTime    = 10 * time.Second
	maxFile      = 20 << 20 // bytes
)

// Before returns at most limit messages of a channel, oldest first.
func (d *Discord) Before(ctx context.Context, at chat.Place, before chat.MessageID, limit int) ([]chat.Message, error) {
	found, err := d.messages(ctx, at, before, limit)
	if err != nil {
		return nil, fmt.Errorf("read the channel: %w", err)
	}
	return found, nil
}

func (d *Discord) messages(ctx context.Context, where chat.Place, before chat.MessageID, limit int) ([]chat.Message, error) {
	if err := ids(where.ID, string(before)); err != nil || limit <= 0 {
		return nil, err
	}
	limit = min(limit, mostMessages)
	query := discord.QueryValues{"limit": limit}
	if before != "" {
		query["before"] = string(before)
	}
	var out []chat.Message
	for range mostPages { // what nobody wrote does not count: who gets fewer takes it that there are no more
		page, err := get[[]message](ctx, d, at(rest.GetMessages, query, where.ID))
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			if m.spoken() {
				out = append(out, d.message(m))
			}
		}
		if len(page) < limit || len(out) >= limit {
			break
		}
		query["before"] = slices.MinFunc(page, func(a, b message) int { return older(a.ID, b.ID) }).ID
	}
	slices.SortFunc(out, func(a, b chat.Message) int { // ids grow with time, and tell apart what was said in one moment
		return older(string(a.ID), string(b.ID))
	})
	return out[max(len(out)-limit, 0):], nil
}

// Search looks through the newest messages of the same channel, for bots may not search a server: those are found that
// hold a word of the query, the oldest first. No words find nothing.
func (d *Discord) Search(ctx context.Context, at chat.Place, query string, limit int) ([]chat.Message, error) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 || limit <= 0 {
		return nil, nil
	}
	all, err := d.messages(ctx, at, "", searched)
	if err != nil {
		return nil, fmt.Errorf("search the channel: %w", err)
	}
	found := slices.DeleteFunc(all, func(m chat.Message) bool {
		text := strings.ToLower(m.Text)
		return !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	})
	return found[:min(limit, len(found))], nil
}

// Fetch opens a file of a message.
func (d *Discord) Fetch(ctx context.Context, file chat.Attachment) (io.ReadCloser, error) {
	answer, err := d.files.Get(ctx, file.URL)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}
