package login

import (
	"sync"
	"time"
)

// maxLinks is how many unused links there may be; the one that would end first gives way.
const maxLinks = 32

// links are the login links that were not used yet. They live in memory: a restart ends them. The zero links is
// ready; safe for concurrent use.
type links struct {
	mu    sync.Mutex
	until map[key]time.Time
}

func (l *links) add(k key, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil {
		l.until = map[key]time.Time{}
	}
	for len(l.until) >= maxLinks {
		delete(l.until, first(l.until))
	}
	l.until[k] = until
}

// take uses a link up, and reports whether it was good.
func (l *links) take(k key, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, known := l.until[k]
	delete(l.until, k)
	return known && now.Before(until)
}

// first returns the key that ends first.
func first(until map[key]time.Time) (found key) {
	var soonest time.Time
	for k, at := range until {
		if soonest.IsZero() || at.Before(soonest) {
			found, soonest = k, at
		}
	}
	return found
}
