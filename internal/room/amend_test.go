package room

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
)

func edit(of chat.Event, text string) chat.Event {
	return chat.Event{At: time.Now(), Place: of.Place, From: of.From, Message: of.Message, Body: chat.Edited{Of: of.Message, Text: text}}
}

func recall(of chat.Event) chat.Event {
	return chat.Event{At: time.Now(), Place: of.Place, From: of.From, Message: of.Message, Body: chat.Recalled{Of: of.Message}}
}

// BUG-B10: an edit of what waits replaces it in its place in line.
func TestAnEditOfWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t)
		r.post(t, "a", "wait", 0)
		synctest.Wait()
		one, two := event("a", "one"), event("a", "two")
		r.post(t, "a", "one", 1)
		r.post(t, "a", "two", 2)
		stranger := edit(one, "not mine")
		stranger.From.ID = "mallory"
		elsewhere := edit(one, "not here")
		elsewhere.Place.ID = "b"
		for what, e := range map[string]chat.Event{"somebody else's": stranger, "another place's": elsewhere, "of nothing": edit(event("a", "zero"), "x")} {
			if found := r.Edit(e); found.Fate != Past {
				t.Error(what, found)
			}
		}
		older := edit(one, "too old")
		time.Sleep(time.Millisecond)
		if found := r.Edit(edit(one, "one, better")); found.Fate != InLine || found.Event.Text() != "one, better" {
			t.Fatal(found)
		}
		if found := r.Edit(older); found.Fate != Past {
			t.Fatal("an edit that was overtaken counted", found)
		}
		if found := r.Edit(edit(two, "two, better")); found.Fate != InLine {
			t.Fatal(found)
		}
		close(r.desk.hold("wait"))
		synctest.Wait()
		if got := r.desk.lines(); !strings.HasSuffix(got, "start one, better, end one, better, start two, better, end two, better") {
			t.Fatal(got)
		}
		if found := r.Edit(edit(one, "late")); found.Fate != Past {
			t.Fatal("what was answered is history", found)
		}
		r.Close(t.Context())
	})
}

// BUG-B10: an edit of what runs is told apart, with the turn; one that changes nothing is nothing.
func TestAnEditOfWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := open(t)
		r.post(t, "a", "wait", 0)
		synctest.Wait()
		if found := r.Edit(edit(event("a", "wait"), "wait")); found.Fate != Past {
			t.Fatal(found)
		}
		found := r.Edit(edit(event("a", "wait"), "wait!"))
		if found.Fate != AtWork || found.Event.Text() != "wait" || found.Turn.ID == "" {
			t.Fatal(found)
		}
		close(r.desk.hold("wait"))
		r.Close(t.Context())
	})
}

// BUG-B10: a recall takes what waits out of the line.
func TestARecallOfWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := with(t, Config{JoinMs: 800})
		r.post(t, "a", "wait", 0)
		synctest.Wait()
		r.post(t, "a", "one", 1)
		first, second := picture("a", "p1", "left", "x"), picture("a", "p2", "gone", "x")
		r.Post(first, chat.Owner)
		r.Post(second, chat.Owner)
		stranger := recall(first)
		stranger.From.ID = "mallory"
		if found := r.Recall(stranger); found.Fate != Past {
			t.Fatal(found)
		}
		for _, ev := range []chat.Event{event("a", "one"), second} {
			if found := r.Recall(recall(ev)); found.Fate != InLine || found.Event.ID != ev.ID {
				t.Fatal(found)
			}
		}
		if l := r.Load(); l.Waiting != 1 {
			t.Fatal(l)
		}
		close(r.desk.hold("wait"))
		time.Sleep(time.Second)
		synctest.Wait()
		if got := r.desk.lines(); got != "start wait, end wait, start left, end left" {
			t.Fatal(got)
		}
		r.Close(t.Context())
	})
}

// An album that waits for its rest and is taken back whole leaves nothing behind.
func TestARecallOfAllThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := with(t, Config{JoinMs: 800})
		ev := picture("a", "p1", "gone", "x")
		r.Post(ev, chat.Owner)
		synctest.Wait()
		r.Recall(recall(ev))
		synctest.Wait()
		if len(r.open) != 0 {
			t.Fatal("the room stays open for nothing")
		}
		r.Close(t.Context())
		if got := r.desk.lines(); got != "" {
			t.Fatal(got)
		}
	})
}

// BUG-B10: a recall of what runs says whether anything is left to answer; Cancel ends that turn and no other.
func TestARecallOfWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := with(t, Config{JoinMs: 800})
		first, second := picture("a", "1", "wait", "x"), picture("a", "2", "wait", "x")
		r.Post(first, chat.Owner)
		r.Post(second, chat.Owner)
		r.post(t, "b", "wait here", 0)
		time.Sleep(time.Second)
		synctest.Wait()
		if found := r.Recall(recall(second)); found.Fate != AtWork || found.Event.ID != "2" {
			t.Fatal(found)
		}
		found := r.Recall(recall(first))
		if found.Fate != AllGone {
			t.Fatal(found)
		}
		r.Cancel(found.Turn.ID, chat.ErrRecalled)
		synctest.Wait()
		if got := r.desk.lines(); !strings.HasSuffix(got, "cut wait+wait") || !errors.Is(r.errs[0], chat.ErrRecalled) {
			t.Fatal(got, r.errs)
		}
		if l := r.Load(); l.Running != 1 {
			t.Fatal("another turn was ended", l)
		}
		r.Cancel(found.Turn.ID, chat.ErrRecalled)
		close(r.desk.hold("wait here"))
		r.Close(t.Context())
	})
}

// What ends is about what is still there.
func TestWhatIsGoneIsNoCauseOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := with(t, Config{JoinMs: 800})
		first, second := picture("a", "1", "wait", "x"), picture("a", "2", "more", "x")
		r.Post(first, chat.Owner)
		r.Post(second, chat.Owner)
		time.Sleep(time.Second)
		synctest.Wait()
		r.Recall(recall(second))
		close(r.desk.hold("wait+more"))
		synctest.Wait()
		if r.answered()[0] != "wait" {
			t.Fatal(r.answered())
		}
		r.Close(t.Context())
	})
}
