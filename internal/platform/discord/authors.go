package discord

import (
	"sync"

	"familiar/internal/chat"
)

// mostAuthors is of how many messages it is remembered who wrote them.
const mostAuthors = 10_000

// authors remembers who wrote the newest messages that were for us: when one is deleted, Discord names only the message.
// Safe for concurrent use; its zero value knows nobody.
type authors struct {
	mu    sync.Mutex
	by    map[string]chat.Person
	order []string
}

func authorKey(channel, message string) string { return channel + " " + message }

func (a *authors) note(ev chat.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := authorKey(ev.Place.ID, string(ev.Message))
	if _, known := a.by[key]; known {
		return
	}
	if a.by == nil {
		a.by = map[string]chat.Person{}
	}
	if len(a.order) >= mostAuthors {
		delete(a.by, a.order[0])
		a.order = a.order[1:]
	}
	a.by[key] = ev.From
	a.order = append(a.order, key)
}

func (a *authors) of(channel, message string) (chat.Person, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.by[authorKey(channel, message)]
	return p, ok
}
