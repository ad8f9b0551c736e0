package host

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/tool"
)

// mailer is a tool that asks, and counts what it did.
func mailer(sent *atomic.Int64) func(*Options) {
	type args struct {
		To string `json:"to"`
	}
	made := tool.New(tool.Tool{Name: "send-mail", Doc: "Sends.", Effect: tool.Speaks, Needs: chat.Public, Ask: tool.Always},
		func(ctx context.Context, t chat.Turn, a args) (string, error) {
			sent.Add(1)
			if a.To == "for ever" {
				<-ctx.Done()
				return "", context.Cause(ctx)
			}
			return a.To + " as " + string(t.Kind) + " of " + t.From.ID, nil
		})
	return func(o *Options) { o.Tools = []tool.Tool{made} }
}

func sendsMail(to string) script.Turn {
	return script.Turn{Steps: []script.Step{use("send-mail", map[string]string{"to": to}),
		use("send-reply", map[string]string{"message": "I asked you."})}}
}

// open returns the id of the only open question of ann's.
func (r *rig) open() string {
	r.t.Helper()
	open, err := r.approvals.Open(r.t.Context(), chat.Person{Platform: "net", ID: "ann"}, chat.Public)
	if err != nil || len(open) != 1 {
		r.t.Fatalf("%+v, %v", open, err)
	}
	return open[0].ID
}

// said waits until so many messages have reached the network, and returns the last.
func (r *rig) last(n int) string {
	r.t.Helper()
	r.until("so much was said", func() bool { return len(r.net.said()) >= n })
	got := r.net.said()
	if len(got) != n {
		r.t.Fatalf("said %q", got)
	}
	return got[n-1]
}

// A tool that asks runs when the person says yes, once, with what was shown, over a restart too; nobody else's yes
// counts, and none comes twice.
func TestADeedIsApproved(t *testing.T) {
	home, sent := dir(t), new(atomic.Int64)
	r := liveWith(t, home, nil, mailer(sent), sendsMail("bob"))
	r.hears(event("dm1", "ann", "write to bob"), chat.Accepted)
	if got := r.last(2); got != "dm1: I asked you." {
		t.Fatal(got)
	}
	id := r.open()
	if got := r.net.said()[0]; !strings.Contains(got, "May I use `send-mail`?") || !strings.Contains(got, `"to": "bob"`) ||
		!strings.Contains(got, "`/yes "+id+"` or `/no "+id+"`") {
		t.Fatalf("asked %q", got)
	}
	r.hears(event("dm1", "eve", "/yes "+id), chat.Accepted)
	if got := r.last(3); got != "dm1: That question is not for you to answer." {
		t.Fatal(got)
	}
	if err := r.stop(); err != nil || sent.Load() != 0 {
		t.Fatal(err, sent.Load())
	}

	r = liveWith(t, home, nil, mailer(sent))
	yes := event("dm1", "ann", "/yes "+id)
	r.hears(yes, chat.Accepted)
	if got := r.last(1); got != "dm1: `send-mail` is done: \"bob as approved of ann\"" {
		t.Fatal(got)
	}
	r.hears(yes, chat.Repeat)
	r.hears(event("dm1", "ann", "/no "+id), chat.Accepted)
	if got := r.last(2); got != "dm1: That question is closed already. Answered: yes." {
		t.Fatal(got)
	}
	r.hears(event("dm1", "ann", "/approvals"), chat.Accepted)
	if got := r.last(3); got != "dm1: Nothing waits for your answer." {
		t.Fatal(got)
	}
	if n := sent.Load(); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// Where nothing can be changed that was said, a no is answered in words; nothing is done.
func TestANoIsHeard(t *testing.T) {
	sent := new(atomic.Int64)
	r := liveWith(t, dir(t), nil, mailer(sent), sendsMail("bob"))
	r.hears(event("dm1", "ann", "write"), chat.Accepted)
	r.last(2)
	r.hears(event("dm1", "ann", "/no "+r.open()), chat.Accepted)
	if got := r.last(3); got != "dm1: Answered: no." || sent.Load() != 0 {
		t.Error(got, sent.Load())
	}
	if strings.Contains(r.log.String(), "went wrong") {
		t.Error(r.log)
	}
}

// A deed that was cut off is told of and never run again: by the end of the bot, or by its death before it could say what
// had come of it.
func TestADeedThatWasCutOff(t *testing.T) {
	const cutOff = "A restart came between while I was using `send-mail`"
	home, sent := dir(t), new(atomic.Int64)
	short := func(c *config.Config) { c.Server.ShutdownMs = 1 }
	r := liveWith(t, home, short, mailer(sent), sendsMail("for ever"))
	r.hears(event("dm1", "ann", "write"), chat.Accepted)
	r.last(2)
	id := r.open()
	r.hears(event("dm1", "ann", "/yes "+id), chat.Accepted)
	r.until("it is at work", func() bool { return sent.Load() == 1 })
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if got := r.last(3); !strings.Contains(got, cutOff) {
		t.Fatal(got)
	}

	r = liveWith(t, home, nil, mailer(sent), sendsMail("bob"))
	r.hears(event("dm1", "ann", "write"), chat.Accepted)
	r.last(2)
	yes := event("dm1", "ann", "/yes "+r.open())
	taken, err := r.approvals.Take(t.Context(), yes, chat.Public) // as far as this, and then the process died
	if err != nil || taken.Do == nil {
		t.Fatal(taken, err)
	}
	if _, err := r.inbox.Accept(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
	if err := r.inbox.Begin(t.Context(), chat.NewTurn(chat.Approved, yes, chat.Public, time.Now())); err != nil {
		t.Fatal(err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = liveWith(t, home, nil, mailer(sent))
	if got := r.last(1); !strings.Contains(got, cutOff) {
		t.Fatal(got)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = liveWith(t, home, nil, mailer(sent))
	if got := r.net.said(); len(got) != 0 || sent.Load() != 1 {
		t.Errorf("said %q, sent %d", got, sent.Load())
	}
}

// An answer that was taken and not begun when the process died is carried out at the next start.
func TestAnAnswerThatWasNotBegun(t *testing.T) {
	home, sent := dir(t), new(atomic.Int64)
	r := liveWith(t, home, nil, mailer(sent), sendsMail("bob"))
	r.hears(event("dm1", "ann", "write"), chat.Accepted)
	r.last(2)
	yes := event("dm1", "ann", "/yes "+r.open())
	if _, err := r.approvals.Take(t.Context(), yes, chat.Public); err != nil {
		t.Fatal(err)
	}
	if _, err := r.inbox.Accept(t.Context(), yes); err != nil {
		t.Fatal(err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = liveWith(t, home, nil, mailer(sent))
	if got := r.last(1); !strings.Contains(got, "is done") || sent.Load() != 1 {
		t.Fatal(got, sent.Load())
	}
}

// The agent is told at once that the person is being asked.
func TestTheAgentIsTold(t *testing.T) {
	sent := new(atomic.Int64)
	r := liveWith(t, dir(t), nil, mailer(sent))
	ev := event("dm1", "ann", "write")
	res, err := r.box.Call(t.Context(), chat.NewTurn(chat.Talk, ev, chat.Public, time.Now()), "send-mail", []byte(`{"to":"bob"}`))
	var asked tool.Asked
	if err != nil || json.Unmarshal(res.Data, &asked) != nil || asked.ID != r.open() || !strings.Contains(asked.Say, "Nothing has been done yet") {
		t.Errorf("%s, %v", res.Data, err)
	}
}
