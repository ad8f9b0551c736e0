package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"familiar/internal/chat"
	"familiar/internal/command"
	"familiar/internal/phrase"
	"familiar/internal/platform/webhook"
)

// openWebhook makes the webhook's platform.
func (h *Host) openWebhook(ctx context.Context) (err error) {
	h.webhook, err = webhook.New(ctx, h.db, h.cfg.Platforms.Webhook, webhook.Deps{Log: h.log.With("module", "Webhook"), Author: h.author})
	return err
}

// author looks up who wrote a message.
func (h *Host) author(ctx context.Context, place chat.Place, id chat.MessageID) string {
	m, err := h.history.Find(ctx, place, id)
	if err != nil || m.From.Us {
		return ""
	}
	return m.From.ID
}

// letterCommands are for the owner of a bot with a webhook: what could not be delivered, and sending it once more.
func (h *Host) letterCommands() []command.Command {
	if h.webhook == nil {
		return nil
	}
	say := func(key phrase.Key) string { return h.phrases.Say(key) }
	return []command.Command{
		{Name: "/deadletters", Needs: chat.Owner, Help: say(phrase.HelpDeadLetters), Run: h.deadLetters},
		{Name: "/redeliver", Needs: chat.Owner, Args: say(phrase.ArgLetter), Help: say(phrase.HelpRedeliver), Run: h.redeliver},
	}
}

// mostListed bounds what /deadletters shows.
const mostListed = 20

func (h *Host) deadLetters(ctx context.Context, _ chat.Turn, _ string) (string, error) {
	dead, err := h.webhook.Dead(ctx, mostListed)
	if err != nil {
		return "", err
	}
	if len(dead) == 0 {
		return h.phrases.Say(phrase.NoDeadLetters), nil
	}
	var lines []string
	for _, l := range dead {
		lines = append(lines, fmt.Sprintf("- `%s` %s `%s` (%d): %s", l.ID, l.At.Format(time.DateTime), l.Chat, l.Attempts, l.Fault))
	}
	return strings.Join(append(lines, h.phrases.Say(phrase.DeadLettersNext)), "\n"), nil
}

// everyLetter is what /redeliver takes in place of an id.
const everyLetter = "all"

func (h *Host) redeliver(ctx context.Context, _ chat.Turn, id string) (string, error) {
	if id == "" {
		return h.phrases.Say(phrase.RedeliverUsage), nil
	}
	var again int
	var err error
	if id == everyLetter {
		again, err = h.webhook.RetryAll(ctx)
	} else if err = h.webhook.Retry(ctx, id); err == nil {
		again = 1
	}
	if errors.Is(err, webhook.ErrNoLetter) {
		return "", chat.UserError{Say: h.phrases.Say(phrase.LetterUnknown, id), Err: err}
	}
	return h.phrases.Say(phrase.Redelivering, again), err
}

// letterLines are the lines of /status about what waits for the webhook's other side.
func (h *Host) letterLines(ctx context.Context) []string {
	if h.webhook == nil {
		return nil
	}
	stand, err := h.webhook.Stand(ctx)
	if err != nil {
		h.log.Warn("the webhook's queue could not be counted", chat.KeyErr, err)
		return nil
	}
	return []string{h.phrases.Say(phrase.StatusLetters, stand.Queued, stand.Dead)}
}
