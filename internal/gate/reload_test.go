package gate

import (
	"sync"
	"testing"

	"familiar/internal/chat"
)

// Other rules take effect at the next event, and nobody gets a fresh start of the limits by them.
func TestReload(t *testing.T) {
	g, at := limited(t)
	allowed(t, g, said(ann), true)
	allowed(t, g, said(ann), true)

	c := list(ReplyChannels, "discord/channel/90000000000000001")
	c.RateLimit = Rate{Enabled: true, MaxRequestsPerWindow: 3, WindowMs: 60_000, CooldownMs: 60_000}
	g.Reload(c, nil)
	if v := g.Early(said(ann)); v.Rule != "policy" || v.Decided {
		t.Errorf("the channel that is listed now: %+v", v)
	}
	if _, owned := g.Yolo(said(ann)); owned != "channel_config" {
		t.Errorf("the entry that decides is %q", owned)
	}
	if g.Trust(with(said("owner"), func(e *chat.Event) { e.From.Platform = "web" })) == chat.Owner {
		t.Error("who is an owner no more is one")
	}
	*at += 1 // within the window
	allowed(t, g, said(ann), true)
	allowed(t, g, said(ann), false)

	c.RateLimit.Enabled = false
	g.Reload(c, nil)
	allowed(t, g, said(ann), true)
	c.RateLimit.Enabled = true
	g.Reload(c, nil)
	allowed(t, g, said(ann), false) // still in the cooldown
}

func TestReloadWhileEventsCome(t *testing.T) {
	g, _ := limited(t)
	var hearing sync.WaitGroup
	for range 4 {
		hearing.Go(func() {
			for range 500 {
				if v := g.Early(said(ann)); v.Rule == "" {
					t.Error("no rule decided")
				}
				g.Judge(said(ann))
				g.Trust(said(ann))
			}
		})
	}
	for i := range 500 {
		c := list(ReplyAll)
		c.RateLimit = Rate{Enabled: i%2 == 0, MaxRequestsPerWindow: 1 + i%3, WindowMs: 1, CooldownMs: 1}
		g.Reload(c, theOwner)
	}
	hearing.Wait()
}
