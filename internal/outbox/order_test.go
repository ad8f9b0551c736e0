package outbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// scripted is a network that answers each time as the next of its script says, and then like any other.
type scripted struct {
	*network
	next []func(context.Context) error
}

func (s *scripted) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	if ctx.Err() != nil {
		return chat.Receipt{}, ctx.Err()
	}
	if len(s.next) > 0 {
		now := s.next[0]
		s.next = s.next[1:]
		if err := now(ctx); err != nil {
			return chat.Receipt{}, err
		}
	}
	return s.network.Do(ctx, a)
}

// gone answers that the network cannot be reached.
func gone(context.Context) error { return platform.Temporary{Err: errors.New("gone")} }

// silent does not answer.
func silent(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// What is new has its whole time, though the network took as long over what was held before it.
func TestWhatIsNewHasItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &network{}
		r := open(t, net, &scripted{net, []func(context.Context) error{gone, gone, gone, silent}})
		say(t, r, turn(), "one")
		time.Sleep(heldEvery)
		say(t, r, turn(), "two")
		if net.said() != "two" { // nobody can tell of the first
			t.Error(net.said())
		}
	})
}
