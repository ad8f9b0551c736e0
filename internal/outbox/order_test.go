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

// What a network refused in one look is not tried in it, nor what was said after it, though another network took its time.
func TestASlowNetworkBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &network{}
		here := &scripted{net, []func(context.Context) error{gone, gone, gone, gone}}
		r := open(t, net, here)
		r.deps.Platforms["far"] = &scripted{&network{}, []func(context.Context) error{gone, gone, gone, silent}}
		say(t, r, turn(), "one")
		away := turn()
		away.Place = chat.Place{Platform: "far", ID: "there", Kind: chat.Direct}
		if _, err := r.Do(t.Context(), away, chat.Say{Place: away.Place, Text: "elsewhere"}); err != nil {
			t.Fatal(err)
		}
		say(t, r, turn(), "two")
		time.Sleep(heldEvery)
		defer r.keep(t)()
		time.Sleep(5 * time.Minute)
		if net.said() != "one|two" {
			t.Error(net.said())
		}
	})
}

// What a crash left half tried is said before what waited behind it.
func TestACrashWhileAHeldMessageIsTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{Idempotent: true})
		back := r.net.away()
		say(t, r, turn(), "one")
		say(t, r, turn(), "two")
		back()
		rows, err := r.ledger.in(t.Context(), held)
		if err == nil {
			err = r.takeUp(t.Context(), rows[0])
		}
		if err != nil {
			t.Fatal(err)
		}
		r.reopen(t)
		r.recover(t)
		defer r.keep(t)()
		time.Sleep(time.Minute)
		if r.net.said() != "one|two" {
			t.Error(r.net.said())
		}
	})
}

// BUG-K01: neither the rest of a reply nor what is said after it makes a network be asked before its time.
func TestHowLongIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{MaxText: 10})
		defer r.keep(t)()
		r.net.refuse = []error{platform.Temporary{Err: errors.New("429"), After: 5 * time.Minute}}
		say(t, r, turn(), "one two three four")
		time.Sleep(2 * time.Minute)
		say(t, r, turn(), "five")
		time.Sleep(2 * time.Minute)
		if r.net.said() != "" {
			t.Error("asked too soon")
		}
		time.Sleep(2 * time.Minute)
		if r.net.said() != "one two|three four|five" {
			t.Error(r.net.said())
		}
	})
}

// A place in which people go on talking does not wait for its network longer than others.
func TestABusyPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		defer r.keep(t)()
		back := r.net.away()
		say(t, r, turn(), "one")
		back()
		for range 12 {
			time.Sleep(5 * time.Second)
			say(t, r, turn(), "more")
		}
		if r.net.said() == "" {
			t.Error("it still waits")
		}
	})
}
