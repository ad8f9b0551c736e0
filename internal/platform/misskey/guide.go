package misskey

import (
	"context"
	"fmt"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/api"
)

// emojisKept is how long the list of emojis is given again.
const emojisKept = 5 * time.Minute

// emojiCache is the newest list of emojis.
type emojiCache struct {
	mu   sync.Mutex
	list []chat.Emoji
	at   time.Time
}

// Emojis returns the custom emojis of the instance, without those that only some roles may use. When they cannot be
// fetched, those of last time are given.
func (m *Misskey) Emojis(ctx context.Context, place chat.Place) ([]chat.Emoji, error) {
	if _, _, err := here(place); err != nil {
		return nil, err
	}
	c := &m.emojis
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.at.IsZero() && time.Since(c.at) < emojisKept {
		return c.list, nil
	}
	list, err := m.fetchEmojis(ctx)
	switch {
	case err == nil:
		c.list, c.at = list, time.Now()
	case c.at.IsZero():
		return nil, fmt.Errorf("fetch the emojis: %w", api.Judge(err, false))
	default:
		m.log.Warn("the emojis could not be fetched; those of last time are used", chat.KeyErr, err)
	}
	return c.list, nil
}

func (m *Misskey) fetchEmojis(ctx context.Context) (list []chat.Emoji, err error) {
	type emoji struct {
		Name     string                `json:"name"`
		Category api.Lenient[string]   `json:"category"`
		Roles    api.Lenient[[]string] `json:"roleIdsThatCanBeUsedThisEmojiAsReaction"`
	}
	found, err := api.Call[struct {
		Emojis []emoji `json:"emojis"`
	}](ctx, m.api, "emojis", api.Nothing{})
	for _, e := range found.Emojis {
		if bareName.MatchString(e.Name) && len(e.Roles.V) == 0 {
			form := ":" + e.Name + ":"
			list = append(list, chat.Emoji{Category: e.Category.V, Text: form, Reaction: form})
		}
	}
	return list, err
}

// Direct returns the chat with a person. Whether they take chat messages from us shows when the first one is sent.
func (m *Misskey) Direct(_ context.Context, person chat.Person) (chat.Place, error) {
	if person.Platform != Name || !api.IsID(person.ID) || person.ID == m.self().ID {
		return chat.Place{}, platform.ErrUnreachable
	}
	return directPlace(chatPlace, person.ID), nil
}
