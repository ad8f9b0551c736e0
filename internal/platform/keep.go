package platform

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"familiar/internal/chat"
)

// Status is how far a source is from its network.
type Status string

// The states of a link.
const (
	Disconnected Status = "disconnected" // not started, or ended in order
	Connecting   Status = "connecting"   // the first attempt
	Connected    Status = "connected"
	Reconnecting Status = "reconnecting" // lost, or never reached; waiting or trying again
	Failed       Status = "error"        // given up; nothing more will come from here
)

// State is what /healthz and the metrics say of a link.
type State struct {
	Name          string
	Status        Status
	LastConnected time.Time // zero when it never was
	LastError     string    // why it was lost last; kept after it came back
	Attempts      int       // attempts to come back since it was last connected
}

// ErrGaveUp says that a source was lost more often in a row than a link may come back.
var ErrGaveUp = errors.New("gave up")

// Link is a source that is kept running. Safe for concurrent use.
type Link struct {
	source Source
	max    int
	log    *slog.Logger

	mu    sync.Mutex
	run   int // counts calls of Run, so that a late up of an earlier one says nothing
	state State
}

// NewLink returns a link that is not running yet. maxAttempts is how often in a row it tries to come back
// before it gives up; 0 means without end.
func NewLink(source Source, maxAttempts int, log *slog.Logger) *Link {
	return &Link{source: source, max: maxAttempts, log: log,
		state: State{Name: source.Name(), Status: Disconnected}}
}

// State returns how the link stands now.
func (l *Link) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Keep runs the source until ctx ends, and then returns nil when the source has ended too. A source that is
// lost, or panics, is run again after a wait. The error says why Keep gave up: a Fatal of the source, or too
// many attempts in a row; other links are not concerned. It must run only once at a time.
func (l *Link) Keep(ctx context.Context, hear chat.Hear) error {
	for {
		err := l.once(ctx, hear)
		if ctx.Err() != nil {
			l.set(func(s *State) { s.Status = Disconnected })
			return nil
		}
		if gaveUp := l.lost(err); gaveUp != nil {
			return gaveUp
		}
		attempt := l.State().Attempts
		wait := delay(attempt)
		l.log.Warn("platform lost, trying again", append(crash(err), chat.KeyPlatform, l.source.Name(),
			"attempt", attempt, "wait", wait.Round(time.Millisecond).String(), chat.KeyErr, err.Error())...)
		select {
		case <-ctx.Done():
			l.set(func(s *State) { s.Status = Disconnected })
			return nil
		case <-time.After(wait):
		}
	}
}

// once runs the source once and never returns nil while ctx lives: a source that just ends is lost too.
func (l *Link) once(ctx context.Context, hear chat.Hear) (err error) {
	run := l.begin()
	defer l.set(func(*State) { l.run++ })
	defer func() {
		if r := recover(); r != nil {
			err = panicked{r, debug.Stack()}
		}
	}()
	up := func() { l.connected(run) }
	if err := l.source.Run(ctx, hear, up); err != nil {
		return err
	}
	return errors.New("the connection ended without a reason")
}

// begin marks the start of a run and returns its number.
func (l *Link) begin() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Status == Disconnected {
		l.state.Status = Connecting
	}
	l.run++
	return l.run
}

func (l *Link) connected(run int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if run != l.run {
		return
	}
	l.state.Status, l.state.LastConnected, l.state.Attempts = Connected, time.Now(), 0
}

// lost counts the loss, and returns an error when it was one too many.
func (l *Link) lost(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.LastError = err.Error()
	var fatal Fatal
	switch {
	case errors.As(err, &fatal):
		l.state.Status = Failed
		return fmt.Errorf("platform %s: %w", l.source.Name(), err)
	case l.max > 0 && l.state.Attempts >= l.max:
		l.state.Status = Failed
		return fmt.Errorf("platform %s: %w after %d attempts: %w", l.source.Name(), ErrGaveUp, l.max, err)
	}
	l.state.Attempts++
	l.state.Status = Reconnecting
	return nil
}

func (l *Link) set(change func(*State)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.state)
}

// delay is how long to wait before an attempt, counted from 1: short while a hiccup is likely, long when the
// network is down, and never the same for two sources that were lost together.
func delay(attempt int) time.Duration {
	switch {
	case attempt <= 3:
		return between(time.Second, 5*time.Second)
	case attempt <= 6:
		return between(10*time.Second, 30*time.Second)
	}
	return between(60*time.Second, 62*time.Second)
}

func between(low, high time.Duration) time.Duration { return low + rand.N(high-low) }

// panicked is a panic of a source, caught. Its stack is for the log alone.
type panicked struct {
	value any
	stack []byte
}

func (p panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// crash returns the attributes that only a panic has.
func crash(err error) []any {
	var p panicked
	if errors.As(err, &p) {
		return []any{"stack", string(p.stack)}
	}
	return nil
}
