package gate

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"familiar/internal/chat"
)

// limited is a gate of two requests in 60 s with a cooldown of 60 s, and the clock that it reads.
func limited(t *testing.T, ids ...string) (*Gate, *time.Duration) {
	t.Helper()
	c := list(ReplyAll, ids...)
	c.RateLimit = Rate{Enabled: true, MaxRequestsPerWindow: 2, WindowMs: 60_000, CooldownMs: 60_000}
	g := New(c, theOwner, nil)
	start, at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), new(time.Duration)
	g.limiter.Now = func() time.Time { return start.Add(*at) }
	return g, at
}

func allowed(t *testing.T, g *Gate, ev chat.Event, want bool) {
	t.Helper()
	v := g.Judge(ev)
	if v.Decided == want {
		t.Fatalf("got %+v, want allowed %v", v, want)
	}
	if v.Decided && (v.Outcome != chat.Refused || v.Rule != "rate") {
		t.Fatalf("got %+v, want a refusal of rule rate", v)
	}
}

// AF-32, the verdict: the request above the limit is refused and begins the cooldown.
// AF-33: one in the cooldown is refused and does not move its end.
// AF-34: one after it is allowed, and one more remains.
func TestCooldown(t *testing.T) {
	g, at := limited(t)
	allowed(t, g, said(ann), true)
	allowed(t, g, said(ann), true)
	allowed(t, g, said(ann), false)
	end := g.limiter.Take(said(ann).From).Until

	*at = 30 * time.Second
	allowed(t, g, said(ann), false)
	if now := g.limiter.Take(said(ann).From); now.Until != end || now.Remaining != 0 {
		t.Fatalf("the cooldown was to end at %v with nothing left, got %+v", end, now)
	}
	*at = 59 * time.Second
	allowed(t, g, said(ann), false)
	*at = 60 * time.Second
	if q := g.limiter.Take(said(ann).From); !q.Allowed || q.Remaining != 1 {
		t.Fatalf("after the cooldown: %+v, want allowed with 1 left", q)
	}
}

// AF-35: what is exactly one window old has left it.
func TestWindowEdge(t *testing.T) {
	g, at := limited(t)
	allowed(t, g, said(ann), true)
	*at = time.Second
	allowed(t, g, said(ann), true)
	*at = 60 * time.Second
	allowed(t, g, said(ann), true)
	allowed(t, g, said(ann), false)
}

// AF-36: one person's limit is nobody else's, and another platform's same id is somebody else.
func TestLimitIsOfOnePerson(t *testing.T) {
	g, _ := limited(t)
	for range 3 {
		g.Judge(said(ann))
	}
	allowed(t, g, said(ann), false)
	allowed(t, g, misskey(said(ann)), true)
	allowed(t, g, said(bob), true)
}

func TestWhoIsNotLimited(t *testing.T) {
	bypass := list(ReplyAll)
	bypass.Channels = []Entry{{ID: "discord/channel/90000000000000001", RateLimitBypass: true}}
	bypass.RateLimit = Rate{Enabled: true, MaxRequestsPerWindow: 2, WindowMs: 60_000, CooldownMs: 60_000}
	account, _ := limited(t, "discord/account/"+ann)
	plain, _ := limited(t, "discord/channel/90000000000000001")
	own := with(said("owner"), func(e *chat.Event) { e.From.Platform = "web" })
	recall := with(said(ann), func(e *chat.Event) { e.Body = chat.Recalled{Of: "1"} })
	cases := []struct {
		name  string
		gate  *Gate
		event chat.Event
		all   bool
	}{
		{"AF-37 an account entry", account, said(ann), true},
		{"a channel entry with rateLimitBypass", New(bypass, nil, nil), said(ann), true},
		{"a channel entry without", plain, said(ann), false},
		{"the owner", plain, own, true},
		{"what is no message", plain, recall, true},
		{"no limit", New(list(ReplyAll), nil, nil), said(ann), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			refused := 0
			for range 100 {
				if c.gate.Judge(c.event).Decided {
					refused++
				}
			}
			if c.all != (refused == 0) {
				t.Fatalf("%d of 100 refused", refused)
			}
		})
	}
}

func TestIdlePeopleAreForgotten(t *testing.T) {
	g, at := limited(t)
	for range 3 { // the last one begins a cooldown that outlasts the sweep
		g.Judge(said(bob))
	}
	g.limiter.people[someone{"discord", bob}].until = g.limiter.Now().Add(2 * time.Hour)
	for i := range 50 {
		g.Judge(said(strconv.Itoa(i)))
	}
	*at = sweepEvery
	g.Judge(said(ann))
	if n := len(g.limiter.people); n != 2 {
		t.Fatalf("%d people remembered, want the one who asked and the one in a cooldown", n)
	}
	allowed(t, g, said(bob), false)
}

func TestMemoryIsBounded(t *testing.T) {
	l := NewLimiter(1, time.Hour, time.Hour)
	for i := range mostPeople + 10 {
		l.Take(chat.Person{Platform: "web", ID: strconv.Itoa(i)})
	}
	if n := len(l.people); n > mostPeople {
		t.Fatalf("%d people remembered, want at most %d", n, mostPeople)
	}
}

func TestLimitHoldsForCallsAtOnce(t *testing.T) {
	l := NewLimiter(10, time.Hour, time.Hour)
	var wg sync.WaitGroup
	var mu sync.Mutex
	count := 0
	for range 50 {
		wg.Go(func() {
			if l.Take(chat.Person{Platform: "web", ID: "a"}).Allowed {
				mu.Lock()
				count++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if count != 10 {
		t.Fatalf("%d allowed, want 10", count)
	}
}
