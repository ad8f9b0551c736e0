package room

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
)

// picture is a message with a picture; its words may be "".
func picture(place, id, text, album string) chat.Event {
	ev := event(place, id)
	ev.Body = chat.Said{Text: text, Album: album, Attachments: []chat.Attachment{{ID: id, MIME: "image/png"}}}
	return ev
}

// begun posts events at their times and returns what began, when.
func begun(t *testing.T, join int, arrivals ...any) string {
	r := with(t, Config{JoinMs: join})
	zero := time.Now()
	for _, a := range arrivals {
		switch a := a.(type) {
		case int:
			time.Sleep(time.Until(zero.Add(time.Duration(a) * time.Millisecond)))
		case chat.Event:
			if outcome, _ := r.Post(a, chat.Owner); outcome != chat.Accepted {
				t.Fatal(outcome)
			}
		}
		synctest.Wait()
		r.desk.note(fmt.Sprint("@", time.Since(zero).Milliseconds()))
	}
	time.Sleep(time.Hour)
	synctest.Wait()
	r.Close(t.Context())
	var all []string
	for _, line := range strings.Split(r.desk.lines(), ", ") {
		if strings.HasPrefix(line, "start ") || strings.HasPrefix(line, "@") {
			all = append(all, strings.TrimPrefix(line, "start "))
		}
	}
	return strings.Join(all, " ")
}

func TestWhatBelongsTogetherIsOneTurn(t *testing.T) {
	one, two, three := picture("a", "1", "", ""), picture("a", "2", "", ""), picture("a", "3", "", "")
	for name, c := range map[string]struct {
		join     int
		arrivals []any
		want     string
	}{
		"BUG-B09 three pictures 20 ms apart": {800, []any{0, one, 20, two, 40, three, 839}, "@0 @0 @20 @20 @40 @40 @839 ++"},
		"each part is waited for anew":       {800, []any{0, one, 700, two, 1499, 1501}, "@0 @0 @700 @700 @1499 + @1501"},
		"too late is another turn":           {800, []any{0, one, 801, two, 1602}, "@0 @0  @801 @801  @1602"},
		"BUG-B09 an album with a caption":    {800, []any{0, picture("a", "1", "look", "x"), 20, picture("a", "2", "", "x"), 821}, "@0 @0 @20 @20 look+ @821"},
		"words about a picture end the wait": {800, []any{0, one, 100, event("a", "what is this?"), 101}, "@0 @0 @100 +what is this? @100 @101"},
		"plain text never waits":             {800, []any{0, event("a", "hi"), 1}, "@0 hi @0 @1"},
		"words with a picture do not wait":   {800, []any{0, picture("a", "1", "look", ""), 1}, "@0 look @0 @1"},
		"somebody else's are their own":      {800, []any{0, one, 10, picture("b", "2", "", ""), 1000}, "@0 @0 @10 @10   @1000"},
		"0 waits for nothing":                {0, []any{0, one, 20, two}, "@0  @0 @20  @20"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := begun(t, c.join, c.arrivals...); got != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

// What joins needs no room of its own, has no place in line, and takes the lower trust.
func TestJoiningTakesNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := with(t, Config{JoinMs: 800})
		r.post(t, "a", "wait", 0)
		synctest.Wait()
		for i := range queueLimit - 1 {
			r.post(t, "a", fmt.Sprint(i), i+1)
		}
		first, second := picture("a", "p1", "", ""), picture("a", "p2", "", "")
		if outcome, ahead := r.Post(first, chat.Owner); outcome != chat.Accepted || ahead != queueLimit {
			t.Fatal(outcome, ahead)
		}
		if outcome, ahead := r.Post(second, chat.Public); outcome != chat.Accepted || ahead != 0 {
			t.Fatal("a part of an album was refused, or told its place", outcome, ahead)
		}
		if q := r.open[r.desk.Room(first)].queue; q[len(q)-1].trust != chat.Public {
			t.Fatal("trust", q[len(q)-1].trust)
		}
		for i := range mostParts - 2 {
			r.Post(picture("a", fmt.Sprint("q", i), "", ""), chat.Owner)
		}
		if outcome, _ := r.Post(picture("a", "over", "", ""), chat.Owner); outcome != chat.Busy {
			t.Fatal("an album without end", outcome)
		}
		close(r.desk.hold("wait"))
		time.Sleep(time.Minute)
		r.Close(t.Context())
	})
}

// BUG-B09: who leaves does not wait for pictures; the next process puts them together by the time when they were said.
func TestAnAlbumOverAShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := with(t, Config{JoinMs: 60_000})
		r.Post(picture("a", "1", "", ""), chat.Owner)
		synctest.Wait()
		began := time.Now()
		r.Close(t.Context())
		if took := time.Since(began); took != 0 || r.desk.lines() != "" {
			t.Fatal(took, r.desk.lines())
		}
		r = with(t, Config{JoinMs: 800})
		now := time.Now()
		said := func(ev chat.Event, ago time.Duration) chat.Event {
			ev.At = now.Add(-ago)
			return ev
		}
		r.Resume(func(chat.Event) chat.Trust { return chat.Owner },
			said(picture("a", "1", "one", "x"), time.Hour), said(picture("a", "2", "two", "x"), time.Hour-20*time.Millisecond),
			said(event("a", "a minute later"), time.Hour-time.Minute), said(picture("a", "3", "", ""), 700*time.Millisecond))
		synctest.Wait()
		if got := r.desk.lines(); got != "start one+two, end one+two, start a minute later, end a minute later" {
			t.Fatal(got)
		}
		r.Post(event("a", "about it"), chat.Owner)
		synctest.Wait()
		if got := r.desk.lines(); !strings.HasSuffix(got, "start +about it, end +about it") {
			t.Fatal(got)
		}
		r.Close(t.Context())
	})
}

// A stop ends what runs; an album that waits for its rest is not what it means.
func TestAStopLeavesAnAlbum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := with(t, Config{JoinMs: 800})
		r.Post(picture("a", "1", "one", "x"), chat.Owner)
		synctest.Wait()
		if r.Stop(event("a", "")) {
			t.Fatal("it stopped what does not run")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := r.desk.lines(); got != "start one, end one" {
			t.Fatal(got)
		}
		grace, cancel := context.WithCancel(t.Context())
		cancel()
		r.Close(grace)
	})
}
