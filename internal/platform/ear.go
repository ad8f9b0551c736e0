package platform

import (
	"context"
	"fmt"
	"sync"
	"time"

	"familiar/internal/chat"
)

// Ear is how a platform hears whose events come as requests: they come on goroutines of the listener, and are heard
// between Open and Close alone. Make it with NewEar. Safe for concurrent use.
type Ear struct {
	name string

	mu    sync.Mutex
	hear  chat.Hear // nil while it is closed
	posts sync.WaitGroup

	first sync.Once
	began chan struct{} // closed when it was opened for the first time
}

// NewEar makes an ear of the platform of that name. It is closed.
func NewEar(name string) *Ear { return &Ear{name: name, began: make(chan struct{})} }

// Open begins to hear. One that is open already gives a Fatal.
func (e *Ear) Open(hear chat.Hear) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hear != nil {
		return Fatal{Err: fmt.Errorf("the %s platform runs already", e.name)}
	}
	e.hear = hear
	e.first.Do(func() { close(e.began) })
	return nil
}

// Close hears no more, and returns when nothing is being heard.
func (e *Ear) Close() {
	e.mu.Lock()
	e.hear = nil
	e.mu.Unlock()
	e.posts.Wait()
}

// startTime is how long a request waits for Open: the listener takes it before the bot is ready, and somebody who was
// just told so is quicker than a goroutine.
const startTime = 2 * time.Second

// Hearing returns hear, and done to call when the event was heard; ok is false when nobody listens. It waits for the
// first Open for a moment.
func (e *Ear) Hearing(ctx context.Context) (hear chat.Hear, done func(), ok bool) {
	late := time.NewTimer(startTime)
	defer late.Stop()
	select {
	case <-e.began:
	case <-ctx.Done():
	case <-late.C:
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hear == nil {
		return nil, nil, false
	}
	e.posts.Add(1)
	return e.hear, e.posts.Done, true
}
