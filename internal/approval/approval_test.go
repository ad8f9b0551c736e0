package approval

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/secret"
	"familiar/internal/tool"
)

const (
	yes, no, notAgain = "Yes", "No", "Yes, and not again today"
	late              = "That question is closed already. "
)

// BUG-E07: two people press different buttons at the same time. One answer counts, the other is told; what is kept for
// the day is kept only when it won, and each button means what it says.
func TestTheFirstAnswerWins(t *testing.T) {
	r := newRig(t)
	won := map[Option]int{}
	for i := range 40 {
		q := r.ask(tool.Once, "x")
		ask := r.asked(i + 1)
		presses := []chat.Event{r.press(ann, ask, notAgain), r.press(owner, ask, no), r.press(ann, ask, yes)}
		taken, ready := make([]Taken, len(presses)), make(chan struct{})
		var wg sync.WaitGroup
		for n, ev := range presses {
			wg.Go(func() { <-ready; taken[n] = r.take(ev) })
		}
		close(ready)
		wg.Wait()
		q, _, _ = r.Find(t.Context(), q.ID)
		deeds, told := 0, 0
		for n, took := range taken {
			meant := []Option{Today, No, Yes}[n]
			if took.Do != nil {
				deeds++
			}
			if took.Say != "" {
				told++
				if meant == q.Option || !strings.HasPrefix(took.Say, late) {
					t.Fatalf("%s won, %s was told %q", q.Option, meant, took.Say)
				}
			}
		}
		if want := map[Option]int{Yes: 1, Today: 1, No: 0}[q.Option]; deeds != want || told != 2 {
			t.Fatalf("%s won: %d deeds, %d were told", q.Option, deeds, told)
		}
		days, err := r.Days(t.Context(), ann)
		if err != nil || (len(days) == 1) != (q.Option == Today) {
			t.Fatalf("%s won, and is kept for the day: %v, %v", q.Option, days, err)
		}
		won[q.Option]++
		if _, err := r.Remove(t.Context(), ann, "send-mail"); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(won)
}

// The same answer that a crash let come again is carried out, as long as it was not; another one is not.
func TestTheSameAnswerAgain(t *testing.T) {
	r := newRig(t)
	q := r.ask(tool.Always, "x")
	ev := r.press(ann, r.asked(1), yes)
	for range 2 {
		if took := r.take(ev); took.Do == nil || string(took.Do.Args) != `{"to":"x"}` || took.Do.Schema != sender(tool.Always).Schema() {
			t.Fatalf("%+v", took)
		}
	}
	if err := r.Finish(t.Context(), q, "done"); err != nil {
		t.Fatal(err)
	}
	if took := r.take(ev); took.Do != nil {
		t.Fatal("it would run again")
	}
}

// BUG-E10: words answer only where there is no doubt what they mean.
func TestWordsThatAnswer(t *testing.T) {
	said := func(text string, to chat.MessageID) chat.Said { return chat.Said{Text: text, ReplyTo: to} }
	cases := map[string]struct {
		wait  time.Duration
		who   chat.Person
		body  chat.Said
		prior func(r *rig)
		is    bool
	}{
		"the word alone, the only question":        {quiet, ann, said(" Yes. ", ""), nil, true},
		"typed before the question was read":       {quiet - 1, ann, said("yes", ""), nil, false},
		"a reply to the question":                  {0, ann, said("no", "q1"), nil, true},
		"a reply to something else":                {quiet, ann, said("yes", "u0"), nil, false},
		"other words as a reply to the question":   {quiet, ann, said("yes, but why?", "q1"), nil, false},
		"a long message that begins with the word": {quiet, ann, said("yes and then tell me about tea", ""), nil, false},
		"a letter":               {quiet, ann, said("y", ""), nil, false},
		"somebody else":          {quiet, bob, said("yes", ""), nil, false},
		"the owner":              {quiet, owner, said("yes", ""), nil, true},
		"two questions are open": {quiet, ann, said("yes", ""), func(r *rig) { r.ask(tool.Once, "y") }, false},
		"we said something since": {quiet, ann, said("yes", ""), func(r *rig) {
			r.said = append(r.said, chat.Message{ID: "later", From: chat.Person{Us: true}})
		}, false},
		"others said something since": {quiet, ann, said("yes", ""), func(r *rig) {
			r.said = append(r.said, chat.Message{ID: "later", From: bob})
		}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			q := r.ask(tool.Once, "x")
			if c.prior != nil {
				c.prior(r)
			}
			r.later(c.wait)
			took := r.take(r.event(c.who, c.body))
			if took.Is != c.is {
				t.Fatalf("%+v", took)
			}
			if q, _, _ = r.Find(t.Context(), q.ID); (q.State == Answered) != c.is {
				t.Fatalf("%+v", q)
			}
		})
	}
}

func TestCommandsThatAnswer(t *testing.T) {
	r := newRig(t)
	q := r.ask(tool.Always, "x")
	if took := r.take(r.event(bob, chat.Said{Text: "/yes " + q.ID})); !took.Is || took.Do != nil || took.Say == "" {
		t.Fatalf("somebody else: %+v", took)
	}
	for _, text := range []string{"/yes", "/yes nothing", "/yesterday " + q.ID} {
		if took := r.take(r.event(ann, chat.Said{Text: text})); took.Is {
			t.Fatalf("%s: %+v", text, took)
		}
	}
	program := r.event(ann, chat.Said{Text: "/yes " + q.ID})
	program.ByProgram = true
	if took := r.take(program); took.Is || !r.Foul(program) {
		t.Fatalf("a program: %+v", took)
	}
	if took := r.take(r.event(owner, chat.Said{Text: "/no " + strings.ToUpper(q.ID)})); !took.Is || took.Do != nil {
		t.Fatalf("the owner: %+v", took)
	}
	if took := r.take(r.event(ann, chat.Said{Text: "/yes " + q.ID})); took.Do != nil || took.Say != late+"Answered: no." {
		t.Fatalf("too late: %+v", took)
	}
	if len(r.edits) != 1 || !strings.HasSuffix(r.edits[0].Text, "Answered: no.") {
		t.Errorf("what is shown: %+v", r.edits)
	}
}

// What is shown is what would be done: no secret, not without end, and nothing that looks otherwise than it is.
func TestWhatIsShown(t *testing.T) {
	r := newRig(t)
	r.vault.Know(secret.New("s3cr3t-value-of-ours"))
	r.ask(tool.Always, "s3cr3t-value-of-ours \u202eevil ``` "+strings.Repeat("z", 3000))
	text := r.asked(1).Text
	for _, bad := range []string{"s3cr3t", "\u202e", strings.Repeat("z", 2000)} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is shown:\n%s", bad, text)
		}
	}
	for _, want := range []string{"`send-mail`", `\u202eevil`, "````json\n", "more characters, which are not shown"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if n := len(r.asked(1).Options); n != 2 {
		t.Errorf("%d buttons where nothing may be kept for the day", n)
	}
}

// «Not again today» spares one person the question about one tool, today, and not in a foreign turn.
func TestNotAgainToday(t *testing.T) {
	r := newRig(t)
	r.ask(tool.Once, "x")
	r.take(r.press(ann, r.asked(1), notAgain))
	spared := func(how tool.Approval, who chat.Person, standing chat.Trust) bool {
		t.Helper()
		_, run, err := r.Asks(t.Context(), turn(who, standing), sender(how), []byte(`{"to":"y"}`))
		if err != nil {
			t.Fatal(err)
		}
		return run
	}
	if !spared(tool.Once, ann, chat.Known) {
		t.Error("she is asked again")
	}
	if spared(tool.Once, ann, chat.Foreign) || spared(tool.Once, bob, chat.Known) || spared(tool.Always, ann, chat.Known) {
		t.Error("somebody is not asked")
	}
	if n := len(r.asks[1].Options); n != 2 {
		t.Errorf("a foreign turn has %d buttons", n)
	}
	r.later(24 * time.Hour)
	if spared(tool.Once, ann, chat.Known) {
		t.Error("tomorrow she is not asked")
	}
}

func TestWhoIsNotAsked(t *testing.T) {
	r := newRig(t)
	var fault tool.Fault
	needs := sender(tool.Once)
	needs.Needs = chat.Owner
	if _, _, err := r.Asks(t.Context(), turn(ann, chat.Known), needs, []byte(`{"to":"x"}`)); !errors.As(err, &fault) || fault.Status != 403 {
		t.Errorf("a person who may not use the tool: %v", err)
	}
	if _, run, err := r.Asks(t.Context(), turn(owner, chat.Foreign), needs, []byte(`{"to":"x"}`)); err != nil || run {
		t.Errorf("a standing that fell: %v, %v", run, err)
	}
	same := turn(ann, chat.Known)
	first, _, _ := r.Asks(t.Context(), same, sender(tool.Once), []byte(`{"to":"x"}`))
	again, _, err := r.Asks(t.Context(), same, sender(tool.Once), []byte(`{"to":"x"}`))
	if err != nil || first != again {
		t.Errorf("the same call again: %v, %v, %v", first, again, err)
	}
	for range mostOpen {
		_, _, err = r.Asks(t.Context(), turn(ann, chat.Known), sender(tool.Once), []byte(`{"to":"x"}`))
	}
	if !errors.As(err, &fault) || fault.Status != 429 {
		t.Errorf("too many: %v", err)
	}
}

// A question about a tool of ours outlives a restart with its buttons; one that a turn waited for does not, and one that
// could not be shown is shown.
func TestARestart(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(t.TempDir(), "b.db")
	r.open(path)
	r.ask(tool.Once, "x")
	kept := r.asked(1)
	ctx, cancel := context.WithCancel(t.Context())
	came := make(chan Outcome, 1)
	go func() {
		came <- r.Permit(ctx, turn(owner, chat.Owner), Wanted{Tool: "files: remove", Args: []byte(`{}`)})
	}()
	waiting := r.asked(2)
	r.open(path) // the other process is not told
	if err := r.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := r.take(r.press(owner, waiting, yes)); took.Say != late+"No longer asked: nothing was done." {
		t.Errorf("%+v", took)
	}
	if len(r.edits) != 1 || r.edits[0].Message != "q2" {
		t.Errorf("what is shown: %+v", r.edits)
	}
	if took := r.take(r.press(ann, kept, yes)); took.Do == nil || string(took.Do.Args) != `{"to":"x"}` {
		t.Errorf("%+v", took)
	}
	cancel()
	if got := <-came; got != Ended {
		t.Errorf("the turn that waited: %s", got)
	}
}

func TestATurnThatWaits(t *testing.T) {
	for label, want := range map[string]Outcome{yes: Allowed, notAgain: Allowed, no: Denied} {
		t.Run(label, func(t *testing.T) {
			r := newRig(t)
			came := make(chan Outcome, 1)
			go func() {
				came <- r.Permit(t.Context(), turn(owner, chat.Owner), Wanted{Tool: "w", Args: []byte(`{}`), Ask: tool.Once})
			}()
			if took := r.take(r.press(owner, r.asked(1), label)); !took.Is || took.Do != nil || took.Say != "" {
				t.Fatalf("%+v", took)
			}
			if got := <-came; got != want {
				t.Fatalf("it came to %s", got)
			}
			if label == notAgain {
				if got := r.Permit(t.Context(), turn(owner, chat.Owner), Wanted{Tool: "w", Ask: tool.Once}); got != Spared {
					t.Errorf("again: %s", got)
				}
			}
		})
	}
}

// What nobody said no to is no «no»: nobody could be asked, nobody answered, or the turn ended.
func TestNobodySaidNo(t *testing.T) {
	r := newRig(t)
	r.deaf = true
	if got := r.Permit(t.Context(), turn(owner, chat.Owner), Wanted{Tool: "w", Args: []byte(`{}`)}); got != Undeliverable {
		t.Errorf("nobody could be asked: %s", got)
	}
	if open, err := r.Open(t.Context(), owner, chat.Owner); err != nil || len(open) != 0 {
		t.Errorf("left: %v, %v", open, err)
	}
	r.deaf = false
	r.patience = time.Millisecond
	if got := r.Permit(t.Context(), turn(owner, chat.Owner), Wanted{Tool: "w", Args: []byte(`{}`)}); got != TimedOut {
		t.Errorf("nobody answered: %s", got)
	}
	if n := len(r.edits); n != 1 || !strings.HasSuffix(r.edits[0].Text, "Nobody answered in time, so nothing was done.") {
		t.Errorf("what is shown: %+v", r.edits)
	}
	q := r.ask(tool.Once, "x")
	r.later(DeedTime)
	if took := r.take(r.event(ann, chat.Said{Text: "/yes " + q.ID})); took.Do != nil || took.Say != late+"Nobody answered in time, so nothing was done." {
		t.Errorf("after the deadline: %+v", took)
	}
}
