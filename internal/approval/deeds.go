package approval

import (
	"context"
	"sync"

	"familiar/internal/chat"
)

// Deeds are what runs because somebody said yes. Safe for concurrent use.
type Deeds struct {
	base    context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup
}

// NewDeeds makes an empty set; ctx is the life of the program.
func NewDeeds(ctx context.Context) *Deeds {
	base, cancel := context.WithCancelCause(ctx)
	return &Deeds{base: base, cancel: cancel}
}

// Do runs a deed on a goroutine of its own.
func (d *Deeds) Do(do func(context.Context)) { d.running.Go(func() { do(d.base) }) }

// Close lets what runs end until ctx does, then ends it with chat.ErrShutdown, and returns when it is gone. Nothing may
// be begun any more when it is called.
func (d *Deeds) Close(ctx context.Context) {
	defer context.AfterFunc(ctx, func() { d.cancel(chat.ErrShutdown) })()
	d.running.Wait()
	d.cancel(chat.ErrShutdown)
}
