package host

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
)

// BUG-L13: a hundred messages come in while the configuration is read anew ten times, each time with other settings of the
// gate, the rooms' briefings and the way out. Each is answered once, and what the network brings again is known.
func TestReloadWhileMessagesFlow(t *testing.T) {
	const messages, reloads = 100, 10
	var round atomic.Int32
	agent := script.New(script.Script{Find: `number-\d+`, Turns: []script.Turn{
		{Steps: []script.Step{use("send-reply", map[string]string{"message": "this was {{found}}"})}}}})
	r := liveWith(t, dir(t), func(c *config.Config) {
		n := int(round.Load())
		c.Outbox.MaxParts, c.Memory.RecentMessageLimit = 1+n, 20-n
		c.Access.RateLimit.Enabled, c.Access.RateLimit.MaxRequestsPerWindow = n%2 == 1, messages
	}, func(o *Options) { o.Agent = agent })

	var evs []chat.Event
	var want []string
	for i := range messages {
		place := fmt.Sprintf("g%d", i%4)
		evs = append(evs, event(place, fmt.Sprintf("p%d", i%10), fmt.Sprintf("number-%d", i)))
		want = append(want, fmt.Sprintf("%s: this was number-%d", place, i))
	}
	var both sync.WaitGroup
	both.Go(func() {
		for range reloads {
			round.Add(1)
			r.Reload()
		}
	})
	both.Go(func() {
		for _, ev := range evs {
			if got := r.net.hear(t.Context(), ev); got != chat.Accepted {
				t.Errorf("%q: %v", ev.Text(), got)
			}
			if got := r.net.hear(t.Context(), ev); got != chat.Repeat {
				t.Errorf("%q again: %v", ev.Text(), got)
			}
		}
	})
	both.Wait()
	r.until("all is answered", func() bool { return len(r.net.said()) >= messages && r.rooms.Load().Running == 0 })
	got := r.net.said()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("said %q", got)
	}
	if n := strings.Count(r.log.String(), "was read anew"); n != reloads {
		t.Errorf("read anew %d times", n)
	}
}
