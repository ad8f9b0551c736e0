package discord

import (
	"fmt"
	"testing"
	"time"

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

// What was said to the bot behind hundreds of messages of others is heard too.
func TestWhatWasMissedInACrowdIsHeard(t *testing.T) {
	r := connect(t, nil)
	r.net.Say(r.talk, r.ann, r.mention()+" before")
	r.heard(t, "before")
	r.stop(t)
	for i := range 2*mostMessages + 50 {
		r.net.Say(r.talk, r.ann, fmt.Sprint("among others ", i))
	}
	r.net.Say(r.talk, r.ann, r.mention()+" behind them")
	r.open(nil)
	r.again(t)
	r.heard(t, "behind them")
}

// The moment is the example of Discord's own documentation.
func TestIDsHoldTheirMoment(t *testing.T) {
	const id = "175928847299117063"
	at := time.UnixMilli(1462015105796)
	if older(idAt(at), id) > 0 || older(idAt(at.Add(time.Millisecond)), id) < 0 {
		t.Errorf("%s is not between %s and %s", id, idAt(at), idAt(at.Add(time.Millisecond)))
	}
	if idAt(time.Unix(0, 0)) != "0" {
		t.Error("before Discord's time there are no ids")
	}
}
