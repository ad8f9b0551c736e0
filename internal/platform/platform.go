// Package platform is the seam to chat networks. An adapter translates: what its network says becomes a
// chat.Event, a chat.Action becomes a call on its network. It owns its connection and proves that the network
// is the network (signatures); it never decides whether a person may. Keep runs a source for as long as the
// program lives.
package platform

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"familiar/internal/chat"
)

// Source is something that events come from.
type Source interface {
	// Name is the platform's word in configuration, files and metrics.
	Name() string
	// Run listens until ctx ends (it then returns nil) or the connection is lost (it returns why; Keep calls Run
	// again). It calls up once each time it is connected. It hands events to hear one at a time for each place.
	Run(ctx context.Context, hear chat.Hear, up func()) error
}

// Platform is a source that can also act. Do blocks until the network has answered or ctx ends; it is safe for
// concurrent use and only the outbox calls it. An action that Abilities rule out gives ErrUnsupported.
type Platform interface {
	Source
	Abilities() chat.Abilities
	Do(ctx context.Context, a chat.Action) (chat.Receipt, error)
}

// The add-ons, and no more than these.
type (
	// Historian tells what was said before: at most limit messages of a place, oldest first, that came before
	// the given one (the newest ones when before is ""). Search returns at most limit messages of the place's
	// surroundings that match query, oldest first; ErrUnsupported where Abilities say no Search.
	Historian interface {
		Before(ctx context.Context, place chat.Place, before chat.MessageID, limit int) ([]chat.Message, error)
		Search(ctx context.Context, place chat.Place, query string, limit int) ([]chat.Message, error)
	}
	// Fetcher opens a file that the platform announced. The caller closes it and bounds what it reads.
	Fetcher interface {
		Fetch(ctx context.Context, file chat.Attachment) (io.ReadCloser, error)
	}
	// Witness is a platform that also shows what people said. Heard makes sure that an accepted event is shown: an
	// earlier process may have died between the two. It is called before anybody is served or answered.
	Witness interface {
		Heard(ctx context.Context, ev chat.Event) error
	}
	// Guide knows its network: our own account there, which has no id before it was first connected; the custom emojis
	// that can be used in a place; and the direct place of a person, which it opens when there is none yet. A person
	// who cannot be spoken to alone is ErrUnreachable; any other error may pass. Emojis may be of some minutes ago.
	Guide interface {
		Self() chat.Person
		Emojis(ctx context.Context, place chat.Place) ([]chat.Emoji, error)
		Direct(ctx context.Context, person chat.Person) (chat.Place, error)
	}
	// Served is a platform with HTTP routes on the one listener.
	Served interface{ Routes(mux *http.ServeMux) }
)

// ErrUnsupported says that a platform cannot do what was asked, now or ever.
var ErrUnsupported = errors.New("this platform cannot do that")

// ErrUnreachable says that a person takes no direct messages from us, now or ever.
var ErrUnreachable = errors.New("this person cannot be spoken to alone")

// Fatal is an error that trying again will not mend, such as a revoked token. Keep gives up on it.
type Fatal struct{ Err error }

func (f Fatal) Error() string { return f.Err.Error() }
func (f Fatal) Unwrap() error { return f.Err }

// Uncertain is an error after which nobody knows whether the network took the action, such as a time-out while
// it answered. The outbox does not try again unless the platform is Idempotent.
type Uncertain struct{ Err error }

func (u Uncertain) Error() string { return u.Err.Error() }
func (u Uncertain) Unwrap() error { return u.Err }

// Temporary is an error of an action that was surely not taken and may be taken later, such as HTTP 429 or 503.
// After is how long the network asked to wait; 0 when it did not say.
type Temporary struct {
	Err   error
	After time.Duration
}

func (t Temporary) Error() string { return t.Err.Error() }
func (t Temporary) Unwrap() error { return t.Err }
