package discord

import (
	"testing"

	"familiar/internal/chat"
)

// What was said to the bot while no session lived is heard afterwards, once and in order: after a session that is lost for
// good, and after a restart. Talk that was not for it stays unheard.
func TestWhatWasMissedIsHeard(t *testing.T) {
	r := connect(t, nil)
	alone := r.net.Direct(r.ann)
	r.net.Say(r.talk, r.ann, r.mention()+" before")
	r.net.Say(alone, r.ann, "alone before")
	r.heard(t, "alone before")
	for _, restart := range []bool{false, true} {
		word := "lost "
		if restart {
			word = "restarted "
			r.stop(t)
			r.open(nil)
		} else {
			r.net.Drop(4009)
			if r.left(t) == nil {
				t.Fatal("a lost session is no error")
			}
		}
		r.net.Say(r.talk, r.ann, r.mention()+" "+word+"1")
		r.net.Say(r.talk, r.ann, "among others")
		r.net.Say(r.talk, r.ann, r.mention()+" "+word+"2")
		r.net.Say(alone, r.ann, word+"alone")
		r.again(t)
		r.net.Say(r.talk, r.ann, r.mention()+" "+word+"3")
		for _, w := range []string{"1", "2", "3", "alone"} {
			r.heard(t, word+w)
		}
		r.note(func() {
			var order []string
			ids := map[chat.EventID]bool{}
			for _, ev := range r.events {
				if ev.Place.ID == r.talk.ID && !ids[ev.ID] {
					order = append(order, ev.Text())
				}
				ids[ev.ID] = true
				if ev.Text() == "among others" && ev.Addressed {
					t.Error("talk of others is taken for ours")
				}
			}
			n := len(order)
			if n < 3 || order[n-3] != word+"1" || order[n-2] != word+"2" || order[n-1] != word+"3" {
				t.Errorf("heard %q", order)
			}
		})
	}
}
