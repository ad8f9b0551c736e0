package approval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/chat"
	"familiar/internal/phrase"
	"familiar/internal/secret"
	"familiar/internal/sqlite"
	"familiar/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ann   = chat.Person{Platform: "net", ID: "ann"}
	bob   = chat.Person{Platform: "net", ID: "bob"}
	owner = chat.Person{Platform: "net", ID: "owner"}
	here  = chat.Place{Platform: "net", ID: "here", Kind: chat.Group}
)

// rig is the questions of a bot on a real database, with the test in the place of the network.
type rig struct {
	*Approvals
	t     testing.TB
	vault *secret.Vault

	mu    sync.Mutex
	now   time.Time
	asks  []chat.Ask
	edits []chat.Edit
	said  []chat.Message
	deaf  bool
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigFor(t)
}

func newRigFor(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, vault: &secret.Vault{}, now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	r.open(filepath.Join(t.TempDir(), "a.db"))
	return r
}

// open starts anew on a database.
func (r *rig) open(path string) {
	r.t.Helper()
	db, err := sqlite.Open(r.t.Context(), path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = db.Close() })
	book, err := phrase.In("en")
	if err != nil {
		r.t.Fatal(err)
	}
	r.Approvals, err = New(r.t.Context(), Deps{DB: db, Phrases: book, Vault: r.vault, Zone: time.UTC, Now: r.clock,
		Log: slog.New(slog.DiscardHandler), Trust: func(ev chat.Event) chat.Trust { return trust(ev.From) }, Do: r.do,
		Before: func(context.Context, chat.Place, chat.MessageID, int) ([]chat.Message, error) { return r.said, nil }})
	if err != nil {
		r.t.Fatal(err)
	}
}

func trust(who chat.Person) chat.Trust {
	if who.Same(owner) {
		return chat.Owner
	}
	return chat.Known
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) later(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

func (r *rig) do(_ context.Context, _ chat.Turn, a chat.Action) (chat.Receipt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.deaf {
		return chat.Receipt{}, errors.New("the network is down")
	}
	switch a := a.(type) {
	case chat.Ask:
		r.asks = append(r.asks, a)
		id := chat.MessageID(fmt.Sprint("q", len(r.asks)))
		r.said = append(r.said, chat.Message{ID: id, From: chat.Person{Us: true}})
		return chat.Receipt{Message: id}, nil
	case chat.Edit:
		r.edits = append(r.edits, a)
	}
	return chat.Receipt{}, nil
}

// asked waits for the n-th question that was shown, from 1.
func (r *rig) asked(n int) chat.Ask {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		if len(r.asks) >= n {
			defer r.mu.Unlock()
			return r.asks[n-1]
		}
		r.mu.Unlock()
		if time.Now().After(deadline) {
			r.t.Fatalf("question %d was never shown", n)
		}
	}
}

func turn(who chat.Person, standing chat.Trust) chat.Turn {
	ev := chat.Event{ID: "e", Place: here, From: who, Message: "m", Body: chat.Said{}}
	return chat.NewTurn(chat.Talk, ev, standing, time.Now())
}

type sendArgs struct {
	To string `json:"to"`
}

// sender is a tool that asks.
func sender(ask tool.Approval) tool.Tool {
	return tool.New(tool.Tool{Name: "send-mail", Ask: ask, Needs: chat.Known},
		func(_ context.Context, _ chat.Turn, a sendArgs) (string, error) { return "sent to " + a.To, nil })
}

// ask puts a call of ann's before her, and returns the question.
func (r *rig) ask(how tool.Approval, to string) Question {
	r.t.Helper()
	asked, run, err := r.Asks(r.t.Context(), turn(ann, chat.Known), sender(how), []byte(`{"to":"`+to+`"}`))
	if err != nil || run {
		r.t.Fatal(asked, run, err)
	}
	q, ok, err := r.Find(r.t.Context(), asked.ID)
	if err != nil || !ok {
		r.t.Fatal(asked, err)
	}
	return q
}

var serial int

// event is something that somebody does in the place.
func (r *rig) event(who chat.Person, body chat.Body) chat.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	serial++
	return chat.Event{ID: chat.EventID(fmt.Sprint("a", serial)), At: r.now, Place: here, From: who,
		Message: chat.MessageID(fmt.Sprint("u", serial)), Addressed: true, Body: body}
}

// take hands an event in.
func (r *rig) take(ev chat.Event) Taken {
	r.t.Helper()
	taken, err := r.Take(r.t.Context(), ev, trust(ev.From))
	if err != nil {
		r.t.Fatal(err)
	}
	return taken
}

// press returns the press of a question's button by its label.
func (r *rig) press(who chat.Person, ask chat.Ask, label string) chat.Event {
	r.t.Helper()
	for _, o := range ask.Options {
		if o.Label == label {
			return r.event(who, chat.Pressed{Button: o.ID})
		}
	}
	r.t.Fatalf("no button %q in %+v", label, ask.Options)
	return chat.Event{}
}
