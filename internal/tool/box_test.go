package tool

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
)

type addArgs struct {
	A    int      `json:"a" jsonschema:"a number"`
	List []string `json:"list,omitempty"`
}

func add(_ context.Context, _ chat.Turn, a addArgs) (int, error) {
	if a.A == 13 {
		panic("unlucky")
	}
	return a.A + len(a.List), nil
}

func box(seen func(chat.Turn, Call)) *Box {
	return NewBox(seen, New(Tool{Name: "add", Doc: " adds \n", Effect: Reads, Attempts: 2}, add),
		New(Tool{Name: "owner-only", Effect: Spends, Needs: chat.Owner}, add))
}

func turn(trust chat.Trust) chat.Turn {
	return chat.NewTurn(chat.Talk, chat.Event{Body: chat.Said{}}, trust, time.Now())
}

func TestCall(t *testing.T) {
	cases := map[string]struct {
		name, args, want string
		trust            chat.Trust
		status           int
	}{
		"right":              {"add", `{"a":2,"list":["x"]}`, "3", chat.Public, 0},
		"an unknown field":   {"add", `{"a":2,"visibility":"private"}`, "2", chat.Public, 0},
		"a missing field":    {"add", `{}`, `"a"`, chat.Public, 400},
		"a wrong type":       {"add", `{"a":"2"}`, "integer", chat.Public, 400},
		"a list that is not": {"add", `{"a":1,"list":"x"}`, "list", chat.Public, 400},
		"no JSON":            {"add", `{`, "JSON", chat.Public, 400},
		"no object":          {"add", `[]`, "object", chat.Public, 400},
		"no arguments":       {"add", ``, `"a"`, chat.Public, 400},
		"too little trust":   {"owner-only", `{"a":1}`, "trust", chat.Known, 403},
		"enough trust":       {"owner-only", `{"a":1}`, "1", chat.Owner, 0},
		"unknown":            {"fly", `{}`, "fly", chat.Owner, 404},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			res, err := box(nil).Call(t.Context(), turn(c.trust), c.name, json.RawMessage(c.args))
			var fault Fault
			got := string(res.Data)
			if errors.As(err, &fault) {
				got = fault.Say
			} else if err != nil {
				t.Fatal(err)
			}
			if fault.Status != c.status || !strings.Contains(got, c.want) {
				t.Fatalf("%d %q", fault.Status, got)
			}
		})
	}
}

func TestAPanicIsAnErrorAndIsSeen(t *testing.T) {
	var seen Call
	_, err := box(func(_ chat.Turn, c Call) { seen = c }).Call(t.Context(), turn(chat.Public), "add", json.RawMessage(`{"a":13}`))
	if err == nil || !strings.Contains(err.Error(), "unlucky") || !errors.Is(seen.Err, err) || seen.Tool != "add" {
		t.Fatal(err, seen)
	}
}

func TestTheSchemaIsDerived(t *testing.T) {
	found, _ := box(nil).Find("add")
	for _, want := range []string{`"required":["a"]`, `"description":"a number"`} {
		if !strings.Contains(string(found.Params), want) {
			t.Errorf("%s is not in %s", want, found.Params)
		}
	}
	if found.Doc != "adds" {
		t.Errorf("%q", found.Doc)
	}
}

func TestASeatWorksForOneTurnAtATime(t *testing.T) {
	var looped []string
	session := NewSession(time.Now())
	if !regexp.MustCompile(`^sess_[0-9a-z]+_[0-9a-f]{32}$`).MatchString(session) { // AF-120
		t.Fatal(session)
	}
	seat := box(nil).Seat(session, []string{"add"}, func(name string) { looped = append(looped, name) })
	call := func(name string) error {
		_, err := seat.Call(t.Context(), name, json.RawMessage(`{"a":1}`))
		return err
	}
	if err := call("add"); !errors.Is(err, ErrNoTurn) {
		t.Fatal("a call before the turn", err)
	}
	seat.Begin(t.Context(), turn(chat.Owner))
	if len(seat.Tools()) != 1 || call("add") != nil {
		t.Fatal("a call in the turn")
	}
	var fault Fault
	if err := call("owner-only"); !errors.As(err, &fault) || fault.Status != 404 {
		t.Fatal("a tool that is not at this seat", err)
	}
	if err := errors.Join(call("add"), call("add")); err != nil || len(looped) != 1 {
		t.Fatal("the third of two attempts", err, looped)
	}
	seat.Begin(t.Context(), turn(chat.Owner))
	if err := call("add"); err != nil || len(looped) != 1 {
		t.Fatal("attempts count for a turn", err)
	}
	seat.End()
	if err := call("add"); !errors.Is(err, ErrNoTurn) {
		t.Fatal("a call after the turn", err)
	}
}

// The end of a turn ends its calls, and comes when they have ended, whatever they still had to do.
func TestTheEndOfATurnEndsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done atomic.Int32
		slow := New(Tool{Name: "slow"}, func(ctx context.Context, _ chat.Turn, _ struct{}) (int, error) {
			<-ctx.Done()
			time.Sleep(time.Minute)
			done.Add(1)
			return 0, context.Cause(ctx)
		})
		seat := NewBox(nil, slow).Seat("s", []string{"slow"}, nil)
		seat.Begin(t.Context(), turn(chat.Owner))
		ended := make(chan error, 2)
		for range 2 {
			go func() { _, err := seat.Call(t.Context(), "slow", nil); ended <- err }()
		}
		synctest.Wait()
		seat.End()
		if done.Load() != 2 {
			t.Fatal("the turn ended before its calls")
		}
		if err := errors.Join(<-ended, <-ended); !errors.Is(err, ErrNoTurn) {
			t.Fatal(err)
		}
	})
}

// A turn settles when no call runs any more, or its time is over.
func TestATurnSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := New(Tool{Name: "slow"}, func(context.Context, chat.Turn, struct{}) (int, error) { time.Sleep(time.Minute); return 1, nil })
		seat := NewBox(nil, slow).Seat("s", []string{"slow"}, nil)
		seat.Settle(t.Context()) // no turn runs
		seat.Begin(t.Context(), turn(chat.Owner))
		began := time.Now()
		settled := func(ctx context.Context) time.Duration { seat.Settle(ctx); return time.Since(began) }
		if took := settled(t.Context()); took != 0 {
			t.Errorf("without a call: %v", took)
		}
		go func() { _, _ = seat.Call(t.Context(), "slow", nil) }()
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if took := settled(short); took != time.Second {
			t.Errorf("with little time: %v", took)
		}
		if took := settled(t.Context()); took != time.Minute {
			t.Errorf("with time enough: %v", took)
		}
		seat.End()
	})
}

// A turn that was stopped is over for its tools at once, however long its agent takes to notice: nobody hears from
// it after «stopped».
func TestAStoppedTurnCallsNothingMore(t *testing.T) {
	seat := box(nil).Seat("s", []string{"add"}, nil)
	ctx, stop := context.WithCancelCause(t.Context())
	seat.Begin(ctx, turn(chat.Owner))
	stop(chat.ErrStopped)
	if _, err := seat.Call(t.Context(), "add", json.RawMessage(`{"a":1}`)); !errors.Is(err, ErrNoTurn) {
		t.Errorf("a call after the stop: %v", err)
	}
	seat.Begin(t.Context(), turn(chat.Owner))
	if _, err := seat.Call(t.Context(), "add", json.RawMessage(`{"a":1}`)); err != nil {
		t.Errorf("a call in the next turn: %v", err)
	}
}
