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
		past = append(past, chat.Message{ID: "m9", From: chat.Person{ID: "us", Us: true}, Text: "the answer"})
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
