package discord

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/disgoorg/disgo/rest"

	"familiar/internal/platform"
)

// patience is how long a call waits for its turn; whoever would have to wait longer is told so instead.
const patience = 10 * time.Second

var errLimited = errors.New("discord lets us do no more of that now")

// limits keeps us within what Discord allows, by what its answers say. Calls of one route and channel go one after another,
// so that messages arrive in their order. It is our own, for that of the library starts what nobody ends. Safe for
// concurrent use.
type limits struct {
	mu      sync.Mutex
	lanes   map[string]*lane   // by route and channel
	buckets map[string]*bucket // by Discord's name for it, and channel
	global  time.Time          // before this, nothing
}

type lane struct {
	turn   chan struct{} // holds one while a call is under way
	bucket *bucket
}

// bucket is an allowance that one or more lanes share.
type bucket struct {
	left  int // meaningful until reset
	reset time.Time
}

var _ rest.RateLimiter = (*limits)(nil)

func newLimits() *limits { return &limits{lanes: map[string]*lane{}, buckets: map[string]*bucket{}} }

// mostLanes is how many lanes are kept before those are dropped that nobody is in.
const mostLanes = 4096

func laneKey(e *rest.CompiledEndpoint) string {
	return e.Endpoint.Method + " " + e.Endpoint.Route + " " + e.MajorParams
}

func (l *limits) lane(e *rest.CompiledEndpoint) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := laneKey(e)
	at, ok := l.lanes[key]
	if !ok {
		if len(l.lanes) >= mostLanes {
			l.prune()
		}
		at = &lane{turn: make(chan struct{}, 1), bucket: &bucket{}}
		l.lanes[key] = at
	}
	return at
}

// prune drops what nobody uses. Whoever holds a dropped lane still ends well.
func (l *limits) prune() {
	now := time.Now()
	for key, at := range l.lanes {
		if len(at.turn) == 0 && at.bucket.reset.Before(now) {
			delete(l.lanes, key)
		}
	}
	for key, b := range l.buckets {
		if b.reset.Before(now) {
			delete(l.buckets, key)
		}
	}
}

// Wait returns when a call may be made; Unlock ends it.
func (l *limits) Wait(ctx context.Context, e *rest.CompiledEndpoint) error {
	at := l.lane(e)
	select {
	case at.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := l.pause(ctx, at)
	if err != nil {
		at.leave()
	}
	return err
}

func (l *limits) pause(ctx context.Context, at *lane) error {
	for {
		wait := l.take(at)
		if wait <= 0 {
			return nil
		}
		if wait > patience {
			return platform.Temporary{Err: errLimited, After: min(wait, longestWait)}
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return platform.Temporary{Err: errors.Join(errLimited, ctx.Err()), After: wait}
		}
	}
}

// take uses one of the allowance, or says how long there is none.
func (l *limits) take(at *lane) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.global.After(now) {
		return l.global.Sub(now)
	}
	if !at.bucket.reset.After(now) {
		return 0 // nothing is known, or it was filled up again
	}
	if at.bucket.left <= 0 {
		return at.bucket.reset.Sub(now)
	}
	at.bucket.left--
	return 0
}

// leave lets the next call in.
func (at *lane) leave() {
	select {
	case <-at.turn:
	default:
	}
}

// Unlock learns from an answer, nil when there was none.
func (l *limits) Unlock(e *rest.CompiledEndpoint, res *http.Response) error {
	at := l.lane(e)
	defer at.leave()
	if res == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	header, now := res.Header, time.Now()
	name := header.Get("X-RateLimit-Bucket")
	if res.StatusCode == http.StatusTooManyRequests {
		until := now.Add(retryAfter(header, nil))
		if name == "" || header.Get("X-RateLimit-Global") != "" || header.Get("X-RateLimit-Scope") == "global" {
			l.global = until
			return nil
		}
		l.join(at, name+" "+e.MajorParams)
		at.bucket.left, at.bucket.reset = 0, until
		return nil
	}
	if name == "" {
		return nil
	}
	l.join(at, name+" "+e.MajorParams)
	at.bucket.left = int(number(header, "X-RateLimit-Remaining"))
	at.bucket.reset = now.Add(seconds(number(header, "X-RateLimit-Reset-After")))
	return nil
}

// join puts a lane to the allowance that it has by Discord's word.
func (l *limits) join(at *lane, key string) {
	b, ok := l.buckets[key]
	if !ok {
		b = at.bucket
		l.buckets[key] = b
	}
	at.bucket = b
}

// MaxRetries is none: whoever calls knows whether to try again.
func (l *limits) MaxRetries() int { return 0 }

// Close has nothing to close.
func (l *limits) Close(context.Context) {}

// Reset forgets everything.
func (l *limits) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.lanes)
	clear(l.buckets)
	l.global = time.Time{}
}

// number reads a header; 0 when it holds none.
func number(header http.Header, name string) float64 {
	n, err := strconv.ParseFloat(header.Get(name), 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// seconds is a span that Discord told, within reason.
func seconds(n float64) time.Duration {
	return min(time.Duration(min(n, longestWait.Seconds())*float64(time.Second)), longestWait)
}
