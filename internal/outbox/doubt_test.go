package outbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

// late is a network whose history shows our words a while after it took them.
type late struct {
	*network
	shows time.Time // zero: never
}

func (l late) Before(context.Context, chat.Place, chat.MessageID, int) ([]chat.Message, error) {
	past := []chat.Message{{ID: "q1", From: chat.Person{ID: "ann"}, Text: "?"}}
	switch {
	case l.shows.IsZero():
		return nil, platform.Temporary{Err: errors.New("busy")}
	case !time.Now().Before(l.shows):
		past = append(past, chat.Message{ID: "m9", From: chat.Person{ID: "us", Us: true}, Text: "the answer", At: l.shows})
	}
	return past, nil
}

func (late) Search(context.Context, chat.Place, string, int) ([]chat.Message, error) {
	return nil, platform.ErrUnsupported
}

// Where nobody knows whether a network without keys took our words, they are looked for while the turn waits, and never
// said again.
func TestWordsOfWhichNobodyKnows(t *testing.T) {
	for name, c := range map[string]struct {
		shows time.Duration // after which the network shows them; negative: never
		took  time.Duration
		found bool
	}{
		"there at once":       {0, time.Second, true},
		"there a little late": {3 * time.Second, 5 * time.Second, true},
		"there late":          {15 * time.Second, 15 * time.Second, true},
		"there too late":      {time.Minute, 15 * time.Second, false},
		"nobody can look":     {-1, 15 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := &network{refuse: []error{platform.Uncertain{Err: errors.New("time is over")}}}
				far := late{network: net}
				if c.shows >= 0 {
					far.shows = time.Now().Add(c.shows)
				}
				r := open(t, net, far)
				now, began := turn(), time.Now()
				receipt, err := r.Do(t.Context(), now, chat.Say{Place: place, Text: "the answer", ReplyTo: "q1"})
				if (err == nil) != c.found || (receipt.Message == "m9") != c.found || net.said() != "" {
					t.Errorf("%+v, %v, said again %q", receipt, err, net.said())
				}
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %v", took)
				}
				lost, err := r.Doubt(t.Context(), "e1")
				if err != nil || lost == c.found || r.Doubtful(now) == c.found || !r.Deeds(now).Replied {
					t.Errorf("lost %v, doubtful %v, %v", lost, r.Doubtful(now), err)
				}
			})
		})
	}
}

// Words that answer nothing, such as a reminder that comes every day, are not taken for those of yesterday.
func TestTheSameWordsOfAnotherTime(t *testing.T) {
	for name, c := range map[string]struct {
		age   time.Duration
		found bool
	}{"yesterday": {24 * time.Hour, false}, "now": {0, true}, "now, by a clock that is late": {clocks - time.Second, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := &network{refuse: []error{platform.Uncertain{Err: errors.New("time is over")}}}
				said := chat.Message{ID: "m9", From: chat.Person{ID: "us", Us: true}, Text: "drink water", At: time.Now().Add(-c.age)}
				r := open(t, net, remembering{net, []chat.Message{said}})
				_, err := r.Do(t.Context(), turn(), chat.Say{Place: place, Text: "drink water"})
				if (err == nil) != c.found || net.said() != "" {
					t.Errorf("%v, said again %q", err, net.said())
				}
			})
		})
	}
}

// An edit of which nobody knows is looked for like a reply: where it is a new message, what is edited next is that. It is
// not asked for again, and where it is not found, nobody can tell whether the person has anything; but a network that may
// be asked again has the old words still.
func TestAnEditOfWhichNobodyKnows(t *testing.T) {
	for name, c := range map[string]struct {
		able  chat.Abilities
		found bool
		doubt bool
	}{
		"there":                        {chat.Abilities{Edit: true}, true, false},
		"not there":                    {chat.Abilities{Edit: true}, false, true},
		"not there, and the old words": {chat.Abilities{Edit: true, Idempotent: true}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := &network{able: c.able}
				past := []chat.Message{{ID: "q1", From: chat.Person{ID: "ann"}, Text: "?", At: time.Now()}}
				if c.found {
					past = append(past, chat.Message{ID: "m9", From: chat.Person{ID: "us", Us: true}, Text: "better words", At: time.Now()})
				}
				r := open(t, net, remembering{net, past})
				now := turn()
				if status, say := r.call(t, now, "send-reply", `{"message":"words"}`); status != 200 {
					t.Fatal(say)
				}
				lost := platform.Uncertain{Err: errors.New("time is over")}
				net.refuse = []error{lost, lost, lost}
				status, say := r.call(t, now, "edit-reply", `{"messageId":"m0","message":"better words"}`)
				if (status == 200) != c.found || net.said() != "words" || r.Doubtful(now) != c.doubt {
					t.Errorf("%d %s, said %q, doubtful %v", status, say, net.said(), r.Doubtful(now))
				}
				if c.found && r.Reply(now.ID) != "m9" {
					t.Errorf("the reply is %q", r.Reply(now.ID))
				}
				net.refuse = nil
				if status, say := r.call(t, now, "edit-reply", `{"messageId":"`+string(r.Reply(now.ID))+`","message":"best words"}`); status != 200 {
					t.Errorf("a second edit: %d %s", status, say)
				}
				if status, _ := r.call(t, now, "edit-reply", `{"messageId":"`+string(r.Reply(now.ID))+`","message":"no more words"}`); status != 429 {
					t.Error("an edit of which nobody knows does not count:", status)
				}
			})
		})
	}
}
