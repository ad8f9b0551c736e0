package platform

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
)

// scripted is a source whose runs follow a script; after the last one it stays connected.
type scripted struct {
	mu    sync.Mutex
	steps []func(ctx context.Context, up func()) error
	began []time.Time
}

func (s *scripted) Name() string { return "scripted" }

func (s *scripted) Run(ctx context.Context, _ chat.Hear, up func()) error {
	s.mu.Lock()
	n := len(s.began)
	s.began = append(s.began, time.Now())
	s.mu.Unlock()
	if n < len(s.steps) {
		return s.steps[n](ctx, up)
	}
	up()
	<-ctx.Done()
	return nil
}

var errLost = errors.New("lost")

func fails(context.Context, func()) error { return errLost }

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func hearNothing(context.Context, chat.Event) chat.Outcome { return chat.Ignored }

func repeat(n int, step func(context.Context, func()) error) (steps []func(context.Context, func()) error) {
	for range n {
		steps = append(steps, step)
	}
	return steps
}

// AF-65: attempts 1, 4 and 7 wait within 1–5 s, 10–30 s and 60 s.
func TestWaitsGrowInBands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{steps: repeat(9, fails)}
		link := NewLink(src, 0, quiet())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- link.Keep(ctx, hearNothing) }()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := link.State(); got.Status != Connected || got.Attempts != 0 || got.LastError != "lost" {
			t.Errorf("after ten minutes: %+v", got)
		}
		if len(src.began) != 10 {
			t.Fatalf("%d runs, want 10", len(src.began))
		}
		for attempt := 1; attempt <= 9; attempt++ {
			low, high := time.Second, 5*time.Second
			if attempt > 6 {
				low, high = 60*time.Second, 62*time.Second
			} else if attempt > 3 {
				low, high = 10*time.Second, 30*time.Second
			}
			if wait := src.began[attempt].Sub(src.began[attempt-1]); wait < low || wait > high {
				t.Errorf("attempt %d waited %v, want %v to %v", attempt, wait, low, high)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Keep returned %v at the end of its context", err)
		}
	})
}

// AF-65: after the maximum it gives up, with an error for whoever ends the program.
func TestGivesUpAfterTheMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{steps: repeat(99, fails)}
		link := NewLink(src, 4, quiet())
		err := link.Keep(t.Context(), hearNothing)
		if !errors.Is(err, errLost) || !errors.Is(err, ErrGaveUp) || !strings.Contains(err.Error(), "scripted") {
			t.Errorf("got %v", err)
		}
		if len(src.began) != 5 {
			t.Errorf("%d runs, want the first and four attempts", len(src.began))
		}
		if got := link.State(); got.Status != Failed || got.Attempts != 4 || !got.LastConnected.IsZero() {
			t.Errorf("state %+v", got)
		}
	})
}

// AF-62: one platform fails for good, the other works; each tells its own state.
func TestFatalGivesUpAtOnceAndAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := NewLink(&scripted{steps: repeat(1, func(context.Context, func()) error {
			return Fatal{errors.New("the token was revoked")}
		})}, 0, quiet())
		good := NewLink(&scripted{}, 0, quiet())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- good.Keep(ctx, hearNothing) }()
		began := time.Now()
		if err := bad.Keep(ctx, hearNothing); err == nil || time.Since(began) != 0 {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		synctest.Wait()
		if s := bad.State(); s.Status != Failed || s.LastError != "the token was revoked" {
			t.Errorf("bad: %+v", s)
		}
		if s := good.State(); s.Status != Connected {
			t.Errorf("good: %+v", s)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if s := good.State(); s.Status != Disconnected {
			t.Errorf("ended: %+v", s)
		}
	})
}

func TestStatesOfALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lose, goUp := make(chan struct{}), make(chan struct{})
		src := &scripted{steps: []func(context.Context, func()) error{
			func(_ context.Context, up func()) error {
				<-goUp
				up()
				<-lose
				return errLost
			},
			func(context.Context, func()) error { panic("a bug") },
			func(context.Context, func()) error { return nil },
		}}
		link := NewLink(src, 0, quiet())
		if s := link.State(); s.Status != Disconnected || s.Name != "scripted" {
			t.Errorf("before: %+v", s)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- link.Keep(ctx, hearNothing) }()
		synctest.Wait()
		if s := link.State(); s.Status != Connecting {
			t.Errorf("first: %+v", s)
		}
		close(goUp)
		synctest.Wait()
		up := time.Now()
		if s := link.State(); s.Status != Connected || !s.LastConnected.Equal(up) {
			t.Errorf("up: %+v", s)
		}
		close(lose)
		synctest.Wait()
		if s := link.State(); s.Status != Reconnecting || s.Attempts != 1 || !s.LastConnected.Equal(up) {
			t.Errorf("lost: %+v", s)
		}
		for link.State().LastError != "panic: a bug" {
			time.Sleep(100 * time.Millisecond) // the bubble's clock
		}
		if s := link.State(); s.Status != Reconnecting || s.Attempts != 2 {
			t.Errorf("after a panic: %+v", s)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s := link.State(); s.Status != Connected || s.Attempts != 0 || s.LastError == "" {
			t.Errorf("back: %+v", s)
		}
		cancel()
		<-done
	})
}

func TestALateUpOfAnEarlierRunSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late func()
		src := &scripted{steps: repeat(1, func(_ context.Context, up func()) error { late = up; return errLost })}
		link := NewLink(src, 0, quiet())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- link.Keep(ctx, hearNothing) }()
		synctest.Wait()
		late()
		if s := link.State(); s.Status != Reconnecting {
			t.Errorf("state %+v", s)
		}
		cancel()
		<-done
		if s := link.State(); s.Status != Disconnected {
			t.Errorf("ended in a wait: %+v", s)
		}
	})
}
