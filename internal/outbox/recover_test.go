package outbox

import (
	"errors"
	"testing"
	"time"

	"familiar/internal/chat"
)

// crash leaves a reply as a process does that dies while it sends: written down, perhaps taken by the network.
func (r *rig) crash(t *testing.T, text string, taken bool) {
	t.Helper()
	now := turn()
	rows := r.rows(now, r.net, chat.Say{Place: place, Text: text, ReplyTo: "q1"})
	if _, _, err := r.ledger.begin(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if taken {
		if _, err := r.net.Do(t.Context(), rows[0].action); err != nil {
			t.Fatal(err)
		}
	}
	r.reopen(t)
}

// recover starts anew, and reports whether the answer may be lost.
func (r *rig) recover(t *testing.T) bool {
	t.Helper()
	_, err := r.Recover(t.Context())
	doubt, err2 := r.Doubt(t.Context(), "e1")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return doubt
}

func TestAfterACrashAnIdempotentNetworkIsAskedAgain(t *testing.T) {
	for _, taken := range []bool{true, false} {
		r := simple(t, chat.Abilities{Idempotent: true})
		r.crash(t, "the answer", taken)
		if lost := r.recover(t); lost || r.net.said() != "the answer" || len(r.noted) != 1 {
			t.Fatal(taken, lost, r.net.said(), r.noted)
		}
		if replied, err := r.Replied(t.Context(), "e1"); err != nil || !replied {
			t.Fatal(taken, err)
		}
		if r.recover(t); r.net.said() != "the answer" {
			t.Fatal("a second start sent it again")
		}
	}
}

// A network that knows a key for some minutes must not be asked again hours later: it would post it a second time.
func TestAfterALongTimeAKeyIsForgotten(t *testing.T) {
	us := chat.Person{ID: "us", Us: true}
	for taken, past := range map[bool][]chat.Message{true: {{ID: "m9", From: us, Text: "the answer", At: time.Now()}}, false: nil} {
		net := &network{able: chat.Abilities{Idempotent: true, Remembers: time.Minute}}
		r := open(t, net, remembering{net, past})
		r.crash(t, "the answer", false)
		r.deps.Now = func() time.Time { return time.Now().Add(time.Hour) }
		r.reopen(t)
		if lost := r.recover(t); lost == taken || net.said() != "" {
			t.Errorf("taken %v: lost %v, said again %q", taken, lost, net.said())
		}
	}
}

func TestAfterACrashOurWordsAreLookedFor(t *testing.T) {
	us, ann := chat.Person{ID: "us", Us: true}, chat.Person{ID: "ann"}
	question := chat.Message{ID: "q1", From: ann, Text: "?"}
	answer := chat.Message{ID: "m9", From: us, Text: "the answer", At: time.Now()}
	for name, c := range map[string]struct {
		past []chat.Message
		lost bool
	}{
		"found after the question":         {[]chat.Message{question, answer}, false},
		"the same words before it":         {[]chat.Message{answer, question}, true},
		"the same words of somebody else":  {[]chat.Message{question, {ID: "x", From: ann, Text: "the answer"}}, true},
		"nothing there and nothing to see": {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			net := &network{}
			r := open(t, net, remembering{net, c.past})
			r.crash(t, "the answer", false)
			if lost := r.recover(t); lost != c.lost || net.said() != "" {
				t.Fatal(lost, net.said())
			}
			if n, err := r.Recover(t.Context()); err != nil || n != 0 {
				t.Fatal("settled twice", n, err)
			}
		})
	}
}

func TestAKeyIsSentOnce(t *testing.T) {
	r := simple(t, chat.Abilities{})
	note := turn()
	note.Kind = chat.Notice
	for range 3 {
		receipt, err := r.Do(t.Context(), note, chat.Say{Place: place, Text: "you were cut off", Key: "cut-off.e1"})
		if err != nil || receipt.Message != "m0" {
			t.Fatal(receipt, err)
		}
		r.reopen(t)
	}
	if r.net.said() != "you were cut off" {
		t.Fatal(r.net.said())
	}
	if replied, err := r.Replied(t.Context(), "e1"); err != nil || replied {
		t.Fatal("a notice is no answer", err)
	}
}

func TestAFailedReplyIsNoAnswer(t *testing.T) {
	r := simple(t, chat.Abilities{})
	r.net.refuse = []error{errors.New("no")}
	r.call(t, turn(), "send-reply", `{"message":"one"}`)
	if replied, err := r.Replied(t.Context(), "e1"); err != nil || replied {
		t.Fatal(err)
	}
	if r.recover(t) {
		t.Fatal("it may be lost")
	}
}
