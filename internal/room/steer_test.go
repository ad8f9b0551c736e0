package room

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// Steer takes words but for «no».
func (d *table) Steer(_ chat.TurnID, ev chat.Event) error {
	if d.during != nil {
		d.during()
	}
	if ev.Text() == "no" {
		return agent.ErrNoTurn
	}
	d.note("steered " + ev.Text())
	return nil
}

func TestSteer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := with(t, Config{WhileBusy: Steer})
		steer := func(ev chat.Event, want bool) {
			t.Helper()
			if got := r.Steer(t.Context(), ev, chat.Public); got != want {
				t.Fatalf("%s: %v", ev.ID, got)
			}
		}
		steer(event("a", "nothing runs"), false)
		r.post(t, "a", "wait", 0)
		synctest.Wait()
		steer(event("a", "more"), true)
		steer(event("b", "elsewhere"), false)
		steer(picture("a", "p", "a picture", ""), false)
		steer(event("a", "no"), false)
		other := event("a", "other")
		other.From.ID = "ben"
		steer(other, false)
		if got := r.desk.lines(); got != "start wait, handing more, steered more, handed more, handing no, returned no" {
			t.Fatal(got)
		}
		r.post(t, "a", "in line", 1)
		steer(event("a", "not before its time"), false)
		if found := r.Edit(edit(event("a", "more"), "changed")); found.Fate != AtWork {
			t.Fatal("an edit of what was handed over", found)
		}
		if found := r.Recall(recall(event("a", "wait"))); found.Fate != AtWork {
			t.Fatal("it still answers what it was handed", found)
		}
		if !r.Stop(event("a", "")) {
			t.Fatal("nothing was stopped")
		}
		synctest.Wait()
		if r.answered()[0] != "more" || !errors.Is(r.errs[0], chat.ErrStopped) || r.answered()[1] != "in line" {
			t.Fatal(r.answered(), r.errs)
		}
		r.Close(t.Context())
	})
}

func TestWithoutSteeringEverythingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := with(t, Config{WhileBusy: Queue})
		r.post(t, "a", "wait", 0)
		synctest.Wait()
		if r.Steer(t.Context(), event("a", "more"), chat.Owner) {
			t.Fatal("it was steered")
		}
		close(r.desk.hold("wait"))
		r.Close(t.Context())
	})
}

// What is handed over while the turn ends is one of its causes, or waits in line: the turn does not end in between.
func TestAHandingAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := with(t, Config{WhileBusy: Steer})
		r.post(t, "a", "wait", 0)
		synctest.Wait()
		handing := make(chan struct{})
		r.desk.during = func() { <-handing }
		var hearing sync.WaitGroup
		hearing.Go(func() { r.Steer(t.Context(), event("a", "just then"), chat.Owner) })
		synctest.Wait()
		close(r.desk.hold("wait"))
		synctest.Wait()
		if len(r.answered()) != 0 {
			t.Fatal("it ended without what it was being handed", r.answered())
		}
		late := event("a", "too late")
		if r.Steer(t.Context(), late, chat.Owner) {
			t.Fatal("a turn that ends took more")
		}
		r.Post(late, chat.Owner)
		close(handing)
		hearing.Wait()
		time.Sleep(time.Second)
		if got := strings.Join(r.answered(), "|"); got != "wait+just then|too late" {
			t.Fatal(got)
		}
		r.Close(t.Context())
	})
}
