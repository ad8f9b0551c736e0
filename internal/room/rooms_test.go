package room

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/chat"
	"familiar/internal/desk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// table is a desk whose rooms are places, and that does what the text of an event says.
type table struct {
	mu   sync.Mutex
	log  []string
	held map[string]chan struct{}

	during func() // runs in Steer
}

func (d *table) Room(ev chat.Event) chat.RoomKey { return chat.NewRoomKey(ev.Place.ID) }

func (d *table) Attend(ctx context.Context, t chat.Turn) (desk.Result, error) {
	text := words(t)
	d.note("start " + text)
	switch {
	case strings.HasPrefix(text, "wait"):
		select {
		case <-d.hold(text):
		case <-ctx.Done():
			d.note("cut " + text)
			return desk.Result{}, ctx.Err() // as a library says it
		}
	case text == "panic":
		panic("a bug")
	}
	d.note("end " + text)
	return desk.Result{Replied: true}, nil
}

func (d *table) hold(text string) chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held[text] == nil {
		d.held[text] = make(chan struct{})
	}
	return d.held[text]
}

func (d *table) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, line)
}

func (d *table) lines() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.log, ", ")
}

type rig struct {
	*Rooms
	desk *table
	errs []error

	causes []string
	mu     sync.Mutex
}

// answered is what the turns that ended had to answer.
func (r *rig) answered() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.causes)
}

// words are what a turn answers.
func words(t chat.Turn) string {
	var all []string
	for _, ev := range t.Cause {
		all = append(all, ev.Text())
	}
	return strings.Join(all, "+")
}

func open(t *testing.T) *rig { return with(t, Config{}) }

func with(t *testing.T, cfg Config) *rig {
	r := &rig{desk: &table{held: map[string]chan struct{}{}}}
	hooks := Hooks{
		Handing: func(_ context.Context, _ chat.Turn, ev chat.Event) error {
			r.desk.note("handing " + ev.Text())
			return nil
		},
		Handed:   func(_ context.Context, _ chat.Turn, ev chat.Event) { r.desk.note("handed " + ev.Text()) },
		Returned: func(_ context.Context, ev chat.Event) { r.desk.note("returned " + ev.Text()) },
		Began: func(_ context.Context, turn chat.Turn) error {
			if ev, _ := turn.Trigger(); ev.Text() == "no disk" {
				return errors.New("disk full")
			}
			return nil
		},
		Ended: func(ctx context.Context, turn chat.Turn, _ time.Duration, _ desk.Result, err error) {
			if ctx.Err() != nil {
				t.Error("the last words of a turn must not be cut off")
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.errs = append(r.errs, err)
			r.causes = append(r.causes, words(turn))
		},
	}
	r.Rooms = New(t.Context(), cfg, r.desk, hooks, time.Now)
	return r
}

func event(place, text string) chat.Event {
	return chat.Event{ID: chat.EventID(text), Message: chat.MessageID(text), Place: chat.Place{Platform: "net", ID: place},
		At: time.Now(), Body: chat.Said{Text: text}}
}

func (r *rig) post(t *testing.T, place, text string, ahead int) {
	t.Helper()
	if outcome, got := r.Post(event(place, text), chat.Owner); outcome != chat.Accepted || got != ahead {
		t.Fatalf("%s: %v, %d ahead", text, outcome, got)
	}
}

// BUG-F03, BUG-F04: what comes while a turn runs waits in line, first in first out, and knows its position.
func TestOneAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t)
		r.post(t, "a", "wait 1", 0)
		synctest.Wait()
		r.post(t, "a", "two", 1)
		r.post(t, "a", "three", 2)
		r.post(t, "b", "elsewhere", 0)
		synctest.Wait()
		if got := r.desk.lines(); got != "start wait 1, start elsewhere, end elsewhere" {
			t.Fatal(got)
		}
		if l := r.Load(); l != (Load{Running: 1, Waiting: 2}) {
			t.Fatal(l)
		}
		close(r.desk.hold("wait 1"))
		synctest.Wait()
		if got := r.desk.lines(); !strings.HasSuffix(got, "end wait 1, start two, end two, start three, end three") {
			t.Fatal(got)
		}
		if l := r.Load(); l != (Load{}) || len(r.open) != 0 {
			t.Fatal("an idle room was kept", l)
		}
		r.Close(t.Context())
	})
}

func TestAFullRoomIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t)
		r.post(t, "a", "wait", 0)
		synctest.Wait()
		for i := range queueLimit {
			r.post(t, "a", fmt.Sprint(i), i+1)
		}
		if outcome, _ := r.Post(event("a", "one too many"), chat.Owner); outcome != chat.Busy {
			t.Fatal(outcome)
		}
		r.Resume(func(chat.Event) chat.Trust { return chat.Owner }, event("a", "accepted long ago"))
		if l := r.Load(); l.Waiting != queueLimit+1 {
			t.Fatal(l)
		}
		r.post(t, "b", "another room", 0)
		close(r.desk.hold("wait"))
		synctest.Wait()
		r.Close(t.Context())
	})
}

// What was accepted while the clock was ahead is attended to at once when it is right again.
func TestATimeToComeKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t)
		ahead := event("a", "accepted in an hour")
		ahead.At = time.Now().Add(time.Hour)
		r.Resume(func(chat.Event) chat.Trust { return chat.Owner }, ahead)
		synctest.Wait()
		if got := r.desk.lines(); !strings.HasSuffix(got, "end accepted in an hour") {
			t.Errorf("%q", got)
		}
		r.Close(t.Context())
	})
}

// BUG-F06: a stop ends the turn that runs; it is not kept for the next one, and what waits is done.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t)
		if r.Stop(event("a", "")) {
			t.Fatal("nothing ran")
		}
		r.post(t, "a", "wait 1", 0)
		r.post(t, "b", "wait 2", 0)
		synctest.Wait()
		r.post(t, "a", "after", 1)
		if !r.Stop(event("a", "")) {
			t.Fatal("nothing was stopped")
		}
		synctest.Wait()
		if got := r.desk.lines(); !strings.HasSuffix(got, "cut wait 1, start after, end after") {
			t.Fatal(got)
		}
		if !errors.Is(r.errs[0], chat.ErrStopped) || r.errs[1] != nil {
			t.Fatal(r.errs)
		}
		close(r.desk.hold("wait 2"))
		r.Close(t.Context())
	})
}

func TestABrokenTurnIsItsOwnProblem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t)
		r.post(t, "a", "wait 1", 0) // until all have come
		r.post(t, "a", "panic", 1)
		r.post(t, "a", "no disk", 2)
		r.post(t, "a", "fine", 3)
		close(r.desk.hold("wait 1"))
		synctest.Wait()
		if got := r.desk.lines(); got != "start wait 1, end wait 1, start panic, start fine, end fine" {
			t.Fatal(got)
		}
		if r.errs[1] == nil || !strings.Contains(r.errs[1].Error(), "a bug") || r.errs[2] == nil || r.errs[3] != nil {
			t.Fatal(r.errs)
		}
		r.Close(t.Context())
	})
}

func TestCloseWaitsThenCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t)
		r.post(t, "a", "wait 1", 0)
		r.post(t, "b", "wait 2", 0)
		synctest.Wait()
		r.post(t, "a", "not begun", 1)
		r.Leave()
		grace, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		closed := make(chan struct{})
		go func() { r.Close(grace); close(closed) }()
		synctest.Wait()
		if outcome, _ := r.Post(event("c", "not begun either"), chat.Owner); outcome != chat.Accepted {
			t.Fatal(outcome)
		}
		close(r.desk.hold("wait 2"))
		synctest.Wait()
		began := time.Now()
		<-closed
		if waited := time.Since(began); waited != time.Minute {
			t.Fatal("the grace was", waited)
		}
		got := r.desk.lines()
		if !strings.HasSuffix(got, "end wait 2, cut wait 1") || strings.Contains(got, "not begun") {
			t.Fatal(got)
		}
		if !errors.Is(r.errs[1], chat.ErrShutdown) {
			t.Fatal(r.errs)
		}
	})
}
