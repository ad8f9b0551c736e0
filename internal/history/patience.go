package history

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// How a network that does not answer is asked again: the first pause, which doubles up to the longest, and for how long
// in all.
const (
	firstPause   = time.Second
	longestPause = 15 * time.Second
	patience     = 2 * time.Minute
)

// Patiently is Before for a turn that cannot go on without what was said: a network that does not answer for now is asked
// again, for two minutes at most, and log says once that a turn waits for it. A network that says no is not asked again.
func (h *History) Patiently(ctx context.Context, log *slog.Logger, place chat.Place, before chat.MessageID, limit int) ([]chat.Message, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		said, err := h.Before(limited, place, before, limit)
		if !passes(err) {
			return said, err
		}
		if pause == firstPause {
			log.Warn("a network does not tell what was said; the turn waits for it", chat.KeyPlatform, place.Platform, chat.KeyErr, err)
		}
		select {
		case <-time.After(max(pause, after(err))):
		case <-limited.Done():
			return nil, err
		}
	}
}

// passes reports whether the same question may be answered later. That nobody knows whether it was taken does not matter:
// it changes nothing.
func passes(err error) bool {
	var later platform.Temporary
	var unsure platform.Uncertain
	return errors.As(err, &later) || errors.As(err, &unsure)
}

// after is how long the network asked to be left alone.
func after(err error) time.Duration {
	var later platform.Temporary
	errors.As(err, &later)
	return later.After
}
