package outbox

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// away lets the network take nothing until what it returns is called.
func (n *network) away() (back func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range 10_000 {
		n.refuse = append(n.refuse, platform.Temporary{Err: errors.New("connection refused")})
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.refuse = nil
	}
}

// keep lets held messages go in the background, until the test ends or what it returns is called.
func (r *rig) keep(t *testing.T) (leave func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { r.Keep(ctx); close(done) }()
	return func() { cancel(); <-done }
}

func say(t *testing.T, r *rig, now chat.Turn, text string) {
	t.Helper()
	if _, err := r.Do(t.Context(), now, chat.Say{Place: place, Text: text}); err != nil {
		t.Fatal(err)
	}
}

// BUG-C15, BUG-K10: what is said while the network is away goes out when it is back, once and in order, and counts as
// said meanwhile.
func TestTheNetworkIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		defer r.keep(t)()
		back := r.net.away()
		first := turn()
		status, answer := r.call(t, first, "send-reply", `{"message":"one"}`)
		if status != 200 || !strings.Contains(answer, `"messageId":""`) || !strings.Contains(answer, "goes out by itself") {
			t.Fatal(status, answer)
		}
		if status, say := r.call(t, first, "edit-reply", `{"messageId":"","message":"x"}`); status != 400 {
			t.Error("an edit of what is held:", say)
		}
		if replied, err := r.Replied(t.Context(), "e1"); err != nil || !replied || !r.answered(first) {
			t.Error("it counts as no answer:", replied, err)
		}
		say(t, r, turn(), "two")
		time.Sleep(3 * time.Minute)
		if r.net.said() != "" {
			t.Fatal(r.net.said())
		}
		back()
		say(t, r, turn(), "three") // the network is back, and nobody has noticed yet
		time.Sleep(time.Minute)
		synctest.Wait()
		if r.net.said() != "one|two|three" || strings.Join(r.noted, "|") != "one|two|three" {
			t.Error(r.net.said(), r.noted)
		}
		time.Sleep(time.Hour)
		if r.net.said() != "one|two|three" || r.held.any.Load() {
			t.Error("it is not over:", r.net.said())
		}
	})
}

// A reply of which the network took only the beginning is not lost for the rest.
func TestTheNetworkGoesAwayInAReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{MaxText: 10})
		defer r.keep(t)()
		gone := platform.Temporary{Err: errors.New("gone")}
		r.net.refuse = []error{nil, gone, gone, gone}
		if status, answer := r.call(t, turn(), "send-reply", `{"message":"one two three four five six"}`); status != 200 {
			t.Fatal(answer)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if r.net.said() != "one two|three four|five six" {
			t.Error(r.net.said())
		}
	})
}

func TestHeldAcrossARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		back := r.net.away()
		say(t, r, turn(), "one")
		r.reopen(t)
		if r.recover(t) {
			t.Fatal("it may be lost")
		}
		back()
		defer r.keep(t)()
		time.Sleep(time.Minute)
		synctest.Wait()
		if r.net.said() != "one" {
			t.Error(r.net.said())
		}
	})
}

// Nobody wants to hear after hours what they asked in the morning.
func TestHeldTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		defer r.keep(t)()
		back := r.net.away()
		say(t, r, turn(), "one")
		time.Sleep(heldFor + time.Minute)
		back()
		time.Sleep(time.Minute)
		synctest.Wait()
		if r.net.said() != "" || r.held.any.Load() {
			t.Error(r.net.said())
		}
		if replied, err := r.Replied(t.Context(), "e1"); err != nil || replied {
			t.Error("it counts as an answer:", err)
		}
	})
}

// BUG-K01: a network that says how long to wait is left alone that long, and others are not.
func TestANetworkSaysHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		defer r.keep(t)()
		r.net.refuse = []error{platform.Temporary{Err: errors.New("429"), After: 5 * time.Minute}}
		say(t, r, turn(), "one")
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		if r.net.said() != "" {
			t.Error("asked too soon")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if r.net.said() != "one" {
			t.Error(r.net.said())
		}
	})
}

// What is refused for good, and what may have gone out, is not said again.
func TestHeldAndThenRefused(t *testing.T) {
	for _, end := range []error{errors.New("no such channel"), platform.Uncertain{Err: errors.New("time-out")}} {
		synctest.Test(t, func(t *testing.T) {
			r := simple(t, chat.Abilities{})
			defer r.keep(t)()
			gone := platform.Temporary{Err: errors.New("gone")}
			r.net.refuse = []error{gone, gone, gone, end}
			say(t, r, turn(), "one")
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if r.net.said() != "" || r.held.any.Load() {
				t.Error(end, r.net.said())
			}
		})
	}
}

// BUG-C09, BUG-C10, BUG-C13: however many look at what is not delivered, one delivers it, once, with the words and the
// key of the first try.
func TestManyLookAtWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		tried := &trying{network: r.net}
		r.Outbox.deps.Platforms["net"] = tried
		back := r.net.away()
		say(t, r, turn(), "the same words")
		back()
		time.Sleep(heldEvery)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := r.letGo(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if r.net.said() != "the same words" {
			t.Error(r.net.said())
		}
		for _, s := range tried.all {
			if s.Text != "the same words" || s.Key == "" || s.Key != tried.all[0].Key {
				t.Errorf("tried %+v", tried.all)
			}
		}
		if len(tried.all) != tries+1 {
			t.Errorf("%d tries", len(tried.all))
		}
	})
}

// trying is a network that remembers what it was asked, whether it took it or not.
type trying struct {
	*network
	all []chat.Say
}

func (n *trying) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	n.mu.Lock()
	if s, ok := a.(chat.Say); ok {
		n.all = append(n.all, s)
	}
	n.mu.Unlock()
	return n.network.Do(ctx, a)
}

// faltering is a network that takes nothing, and then does not even answer.
type faltering struct {
	*network
	asked int
}

func (f *faltering) Do(ctx context.Context, _ chat.Action) (chat.Receipt, error) {
	if f.asked++; f.asked > tries {
		<-ctx.Done()
		return chat.Receipt{}, ctx.Err()
	}
	return chat.Receipt{}, platform.Temporary{Err: errors.New("connection refused")}
}

// What one network does not take holds nobody up on another.
func TestAnotherNetworkIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		r.deps.Platforms["far"] = &faltering{network: &network{}}
		away := turn()
		away.Place = chat.Place{Platform: "far", ID: "there", Kind: chat.Direct}
		if _, err := r.Do(t.Context(), away, chat.Say{Place: away.Place, Text: "one"}); err != nil || !r.held.any.Load() {
			t.Fatal(err)
		}
		time.Sleep(heldEvery)
		began := time.Now()
		say(t, r, turn(), "two")
		if waited := time.Since(began); waited > 0 || r.net.said() != "two" {
			t.Errorf("after %s: %s", waited, r.net.said())
		}
	})
}

// A network that takes its time over what is held keeps nobody else from being held back.
func TestANetworkThatHangsOverWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := simple(t, chat.Abilities{})
		slow := &hanging{network: r.net}
		r.Outbox.deps.Platforms["net"] = slow
		back := r.net.away()
		say(t, r, turn(), "one")
		slow.hang.Store(true)
		done := make(chan error, 1)
		time.Sleep(heldEvery)
		go func() { done <- r.letGo(t.Context()) }()
		synctest.Wait()
		began := time.Now()
		say(t, r, turn(), "two")
		if waited := time.Since(began); waited > 0 {
			t.Errorf("it waited %s", waited)
		}
		back()
		slow.hang.Store(false)
		if err := <-done; err != nil {
			t.Error(err)
		}
		defer r.keep(t)()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if r.net.said() != "two" || r.held.any.Load() { // nobody can tell of the first
			t.Error(r.net.said())
		}
	})
}

// hanging is a network that can take its time.
type hanging struct {
	*network
	hang atomic.Bool
}

func (n *hanging) Do(ctx context.Context, a chat.Action) (chat.Receipt, error) {
	if n.hang.Load() {
		<-ctx.Done()
		return chat.Receipt{}, ctx.Err()
	}
	return n.network.Do(ctx, a)
}

// forgetful knows a key for two minutes, and tells its history.
type forgetful struct {
	*network
	chatter int // messages of others that came since
}

func (n *forgetful) Before(context.Context, chat.Place, chat.MessageID, int) (past []chat.Message, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range n.got {
		_, text := describe(a)
		past = append(past, chat.Message{ID: "found", From: chat.Person{Us: true}, Text: text, At: time.Now()})
	}
	for range n.chatter {
		past = append(past, chat.Message{Text: "so I said"})
	}
	return past[max(0, len(past)-lookBack):], nil
}

func (n *forgetful) Search(context.Context, chat.Place, string, int) ([]chat.Message, error) {
	return nil, platform.ErrUnsupported
}

// BUG-C15: a network that fails in such a way that nobody knows what it took is asked again while it knows our keys, and
// looked through when it does not: what it took is not said again, what it did not take is said, and where nobody can tell
// nothing is.
func TestNobodyKnowsWhatTheNetworkTook(t *testing.T) {
	for name, c := range map[string]struct {
		away    time.Duration
		took    bool
		chatter int
		want    string
		unknown int64
	}{
		"not taken":                 {time.Minute, false, 0, "one|two", 0},
		"taken":                     {time.Minute, true, 0, "one|two", 0},
		"not taken, long ago":       {5 * time.Minute, false, 3, "one|two", 0},
		"taken, long ago":           {5 * time.Minute, true, 3, "one|two", 0},
		"long ago, much said since": {5 * time.Minute, false, 60, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := &forgetful{network: &network{able: chat.Abilities{Idempotent: true, Remembers: 2 * time.Minute}}, chatter: c.chatter}
				r := open(t, net.network, net)
				defer r.keep(t)()
				if c.took {
					net.got = []chat.Action{chat.Say{Place: place, Text: "one"}}
				}
				for range 10_000 {
					net.refuse = append(net.refuse, platform.Uncertain{Err: errors.New("HTTP 500")})
				}
				first := turn()
				if status, answer := r.call(t, first, "send-reply", `{"message":"one"}`); status != 200 || !strings.Contains(answer, "goes out by itself") {
					t.Fatal(status, answer)
				}
				if c.took {
					net.mu.Lock()
					net.keys[string(first.ID)+".1"] = "m0"
					net.mu.Unlock()
				}
				say(t, r, turn(), "two")
				time.Sleep(c.away)
				net.mu.Lock()
				net.refuse = nil
				clear(net.forgotten(c.away))
				net.mu.Unlock()
				time.Sleep(time.Minute)
				synctest.Wait()
				if said := net.said(); said != c.want {
					t.Error(said)
				}
				if n, err := r.Unknown(t.Context()); err != nil || n != c.unknown || r.held.any.Load() {
					t.Error(n, "are unknown", err)
				}
			})
		})
	}
}

// forgotten are the keys that the network knows no more after a time.
func (n *network) forgotten(after time.Duration) map[string]chat.MessageID {
	if after < n.able.Remembers {
		return nil
	}
	return n.keys
}
