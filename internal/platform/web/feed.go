package web

import (
	"context"
	"database/sql"
	"sync"
)

// feed is the live end of one session's stream: it gives out indexes and wakes readers. It exists in memory only
// while somebody uses the session.
type feed struct {
	session string
	users   int // guarded by Web.mu

	posting sync.Mutex // one event of the place is handed to hear at a time

	mu      sync.Mutex // held while lines are written: their order is the order of their indexes
	loaded  bool
	exists  bool
	next    int64
	reserve int64         // from here on nothing is shown: the message that goes there is being heard; -1: none
	changed chan struct{} // closed and replaced when there is more to read
}

// use returns the feed of a session, with its bounds read; done gives it back.
func (w *Web) use(ctx context.Context, session string) (f *feed, done func(), err error) {
	w.mu.Lock()
	f = w.feeds[session]
	if f == nil {
		f = &feed{session: session, reserve: -1, changed: make(chan struct{})}
		w.feeds[session] = f
	}
	f.users++
	w.mu.Unlock()
	done = func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if f.users--; f.users == 0 {
			delete(w.feeds, session)
		}
	}
	if err := f.load(ctx, w); err != nil {
		done()
		return nil, nil, err
	}
	return f, done, nil
}

func (f *feed) load(ctx context.Context, w *Web) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.loaded {
		return nil
	}
	f.next, _, f.exists, err = w.bounds(ctx, f.session)
	f.loaded = err == nil
	return err
}

// known says whether the session exists, or is about to: its first message is being heard.
func (f *feed) known() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.exists || f.reserve >= 0
}

// end returns the index below which everything may be read, and a channel that is closed when it grows.
func (f *feed) end() (int64, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reserve >= 0 {
		return f.reserve, f.changed
	}
	return f.next, f.changed
}

// write appends what compose puts, in one transaction.
func (f *feed) write(ctx context.Context, w *Web, compose func(p *pen) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := f.commit(ctx, w, f.next, compose)
	if err != nil {
		return err
	}
	f.next = p.next
	f.wake()
	return nil
}

// hold keeps the next two indexes (the start of a session and a message) for a message that is about to be
// heard, so that the turn which it causes stands below it in the stream.
func (f *feed) hold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reserve = f.next
	f.next += 2
}

// fill writes what was held and shows it. When compose is nil the message was turned away and nothing is
// written; a gap stays only if something was written behind it.
func (f *feed) fill(ctx context.Context, w *Web, compose func(p *pen) error) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, used := f.reserve, f.reserve
	if compose != nil {
		var p *pen
		if p, err = f.commit(ctx, w, from, compose); err == nil {
			used = p.next
		}
	}
	if f.next == from+2 {
		f.next = used
	}
	f.reserve = -1
	f.wake()
	return err
}

// commit runs compose with a pen at the given index. f.mu is held: only the database is called, and it calls
// nobody back.
func (f *feed) commit(ctx context.Context, w *Web, at int64, compose func(p *pen) error) (*pen, error) {
	var p *pen
	err := w.db.Write(ctx, func(tx *sql.Tx) error {
		p = &pen{tx: tx, session: f.session, next: at, at: stamp()}
		if err := compose(p); err != nil {
			return err
		}
		if p.next == at {
			return nil // nothing new: the session is not touched
		}
		return p.close(ctx)
	})
	if err == nil && p.next > at {
		f.exists = true
	}
	return p, err
}

func (f *feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}
