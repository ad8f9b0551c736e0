package cli

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"familiar/internal/control"
)

// chatLink keeps in touch with a bot. A bot that was started anew may be at another address, so it is looked for
// again after each failure. Safe for concurrent use.
type chatLink struct {
	find func() (*control.Client, error)

	mu    sync.Mutex
	found *control.Client
}

// How long is waited before something is tried again, at first and at most.
const (
	againFirst = 250 * time.Millisecond
	againMost  = 5 * time.Second
)

func (l *chatLink) bot() (*control.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found != nil {
		return l.found, nil
	}
	found, err := l.find()
	if err == nil {
		l.found = found
	}
	return found, err
}

// lose forgets where the bot was.
func (l *chatLink) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = nil
}

// passing reports whether trying again may help: nobody answered, or not now.
func passing(err error) bool {
	var refused control.Refused
	return !errors.As(err, &refused) || refused.Temporary()
}

// try does something until it is done, refused for good, or ctx ends. failed is told of each failure that may pass.
func (l *chatLink) try(ctx context.Context, do func(*control.Client) error, failed func(error)) error {
	for failures := 0; ; failures++ {
		bot, err := l.bot()
		if err == nil {
			err = do(bot)
		}
		if err == nil || ctx.Err() != nil || !passing(err) {
			return err
		}
		l.lose()
		failed(err)
		pause(ctx, failures)
	}
}

// follow hands the events of a session to see, from an index on, until ctx ends or the session is refused for good.
// away is told when the bot is lost, back when it is found again, gap when events are no longer kept.
type follower struct {
	see  func(control.Event)
	away func()
	back func(control.State)
	gap  func()
}

func (l *chatLink) follow(ctx context.Context, session string, next int64, f follower) error {
	lost := false
	for failures := 0; ctx.Err() == nil; failures++ {
		bot, err := l.bot()
		var state control.State
		if err == nil && lost {
			state, err = bot.State(ctx)
		}
		if err == nil {
			if lost {
				f.back(state)
			}
			lost = false
			err = bot.Stream(ctx, session, next, func(ev control.Event) bool {
				failures, next = 0, ev.Index+1
				f.see(ev)
				return true
			})
		}
		var refused control.Refused
		switch {
		case errors.As(err, &refused) && refused.Status == http.StatusGone:
			next = refused.First
			f.gap()
		case ctx.Err() != nil:
			return nil
		case !passing(err):
			return err
		default:
			if !lost {
				f.away()
			}
			lost = true
			l.lose()
			pause(ctx, failures)
		}
	}
	return nil
}

// pause waits longer after each failure, and not as long as everybody else.
func pause(ctx context.Context, failures int) {
	wait := min(againFirst<<min(failures, 10), againMost)
	timer := time.NewTimer(wait*3/4 + rand.N(wait/2))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
