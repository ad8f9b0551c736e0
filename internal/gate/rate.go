package gate

import (
	"sync"
	"time"

	"familiar/internal/chat"
)

// RateRule is the name of the rule that refuses whoever asks too often, as verdicts carry it.
const RateRule = "rate"

// rate refuses a person who asks too often. Only messages count: they are what starts an agent.
func rate(r *rules, ev chat.Event) opinion {
	limited, why := r.limits(ev)
	if !limited && why == "" {
		return opinion{}
	}
	if !limited {
		return letIn(RateRule, why)
	}
	if quota := r.limiter.Take(ev.From); !quota.Allowed {
		return turnAway(RateRule, chat.Refused, "too many requests; heard again at "+quota.Until.UTC().Format(time.RFC3339))
	}
	return opinion{}
}

// limits reports whether the rate of the event's author is limited; why names what lifts the limit, if something does.
func (r *rules) limits(ev chat.Event) (limited bool, why string) {
	if _, said := ev.Body.(chat.Said); !said || r.limiter == nil {
		return false, ""
	}
	for _, e := range r.entries {
		if (e.kind == account || e.bypass) && e.matches(ev) {
			return false, "entry " + e.id + " is not limited"
		}
	}
	return true, ""
}

// Limited reports whether the event counted against its author's rate.
func (g *Gate) Limited(ev chat.Event) bool {
	r := g.rules.Load()
	limited, _ := r.limits(ev)
	return limited && !r.owns(ev.From)
}

// Quota is what is left to one person.
type Quota struct {
	Allowed   bool
	Remaining int       // requests left in the window
	Until     time.Time // the end of the cooldown; zero when there is none
}

// Limiter counts the requests of each person in a sliding window; one too many begins a cooldown, in which nothing
// is counted and nothing extends it. It remembers at most mostPeople people and forgets idle ones hourly, on calls.
// Safe for concurrent use.
type Limiter struct {
	Now func() time.Time // time.Now when nil; set it before the first call

	mu               sync.Mutex
	most             int
	window, cooldown time.Duration

	people map[someone]*record
	swept  time.Time
}

// someone is who is counted: a person on one platform.
type someone struct{ platform, id string }

type record struct {
	asked []time.Time // oldest first, at most Limiter.most
	until time.Time   // the end of the cooldown
}

const (
	sweepEvery = time.Hour
	mostPeople = 100_000 // about 30 MB at ten requests each, far above what one bot meets in an hour
)

// Reload changes the numbers and keeps what was counted: nobody is heard earlier, or less, for the change alone.
func (l *Limiter) Reload(most int, window, cooldown time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most, l.window, l.cooldown = most, window, cooldown
}

// NewLimiter returns a limiter of most requests in each window.
func NewLimiter(most int, window, cooldown time.Duration) *Limiter {
	return &Limiter{most: most, window: window, cooldown: cooldown, people: make(map[someone]*record)}
}

// Take counts one request of p, if it is allowed.
func (l *Limiter) Take(p chat.Person) Quota {
	now := time.Now()
	if l.Now != nil {
		now = l.Now()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	who := someone{p.Platform, p.ID}
	r := l.people[who]
	if r == nil {
		r = new(record)
		l.people[who] = r
	}
	return l.take(r, now)
}

func (l *Limiter) take(r *record, now time.Time) Quota {
	if now.Before(r.until) {
		return Quota{Until: r.until}
	}
	if !r.until.IsZero() { // the cooldown is over: a fresh start
		*r = record{}
	}
	r.asked = l.within(r.asked, now)
	if len(r.asked) >= l.most {
		r.until = now.Add(l.cooldown)
		return Quota{Until: r.until}
	}
	r.asked = append(r.asked, now)
	return Quota{Allowed: true, Remaining: l.most - len(r.asked)}
}

// within drops what is one window old, or older.
func (l *Limiter) within(asked []time.Time, now time.Time) []time.Time {
	kept := asked[:0]
	for _, t := range asked {
		if now.Sub(t) < l.window {
			kept = append(kept, t)
		}
	}
	return kept
}

// sweep forgets people who asked nothing within the window and are in no cooldown. When even that leaves too many,
// some are forgotten at random: better a few fresh starts than memory without bound.
func (l *Limiter) sweep(now time.Time) {
	if now.Sub(l.swept) < sweepEvery && len(l.people) < mostPeople {
		return
	}
	l.swept = now
	for who, r := range l.people {
		if r.asked = l.within(r.asked, now); len(r.asked) == 0 && !now.Before(r.until) {
			delete(l.people, who)
		}
	}
	if len(l.people) < mostPeople {
		return
	}
	for who := range l.people {
		if delete(l.people, who); len(l.people) <= mostPeople-mostPeople/10 {
			return
		}
	}
}
