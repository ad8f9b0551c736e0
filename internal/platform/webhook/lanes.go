package webhook

import "sync"

// lanes lets one event of a chat be heard at a time. A lane exists while somebody is in it or waits for it. The zero
// value is ready.
type lanes struct {
	mu  sync.Mutex
	all map[string]*lane
}

type lane struct {
	sync.Mutex
	users int // guarded by lanes.mu
}

// enter waits for its turn in a lane; leave ends it.
func (l *lanes) enter(name string) (leave func()) {
	l.mu.Lock()
	if l.all == nil {
		l.all = map[string]*lane{}
	}
	one := l.all[name]
	if one == nil {
		one = &lane{}
		l.all[name] = one
	}
	one.users++
	l.mu.Unlock()
	one.Lock()
	return func() {
		one.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(l.all, name)
		}
	}
}
