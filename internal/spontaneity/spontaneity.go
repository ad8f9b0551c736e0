// Package spontaneity is when the bot speaks without being asked: now and then by itself, or because it read along. It
// decides; others fetch and speak.
package spontaneity

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"familiar/internal/chat"
	"familiar/internal/kv"
)

// Target is where the operator lets the bot speak unasked: to a person alone, or in a place. Exactly one is set.
type Target struct {
	Person chat.Person
	Place  chat.Place
}

// Choose takes one of the targets at random, each as likely as the others; false when there is none. For the same time it
// is the same one: a post that was cut off is not made again elsewhere.
func Choose(targets []Target, due time.Time) (Target, bool) {
	if len(targets) == 0 {
		return Target{}, false
	}
	chance := rand.New(rand.NewPCG(uint64(due.UnixMilli()), 0)) //nolint:gosec // it keeps no secret
	return targets[chance.IntN(len(targets))], true
}

// Fetch decides whether the recent talk of the place is read before a post, with the probability of the section.
func (c Config) Fetch() bool { return rand.Float64() < c.ContextFetchProbability }

// Lurker decides whether the last message of a place is one to join in on. What it looked at last in each place
// outlives the process. Safe for concurrent use, but not for one place at once.
type Lurker struct{ store kv.Store }

// NewLurker makes a lurker that remembers in store.
func NewLurker(store kv.Store) *Lurker { return &Lurker{store} }

// Worth reports whether to join in on the last message of a place (air-friends spec §7.6): somebody else wrote it, and
// no program; it does not mention us, or it would have been answered; we did not react to it; and it is not the one
// that was looked at last. A message that is worth it counts as looked at.
func (l *Lurker) Worth(ctx context.Context, place chat.Place, last chat.Message) (bool, error) {
	if last.ID == "" || last.From.Us || last.From.Bot || last.Addressed || last.Reacted {
		return false, nil
	}
	key := fmt.Sprintf("lurk:%s:%s", place.Platform, place.ID)
	seen, err := l.store.Load(ctx, key)
	if err != nil && !errors.Is(err, kv.ErrMissing) || seen == string(last.ID) {
		return false, err
	}
	return true, l.store.Save(ctx, key, string(last.ID), 0)
}
