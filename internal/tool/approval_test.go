package tool

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"familiar/internal/chat"
)

// A tool that asks does nothing until a person said yes, and then exactly what they were shown.
func TestToolsThatAsk(t *testing.T) {
	put, run, ran := 0, false, 0
	asker := func(_ context.Context, _ chat.Turn, _ Tool, args json.RawMessage) (Asked, bool, error) {
		put++
		return Asked{ID: string(args), Say: "wait"}, run, nil
	}
	made := New(Tool{Name: "pay", Effect: Spends, Needs: chat.Owner, Ask: Once}, func(_ context.Context, _ chat.Turn, a addArgs) (int, error) {
		ran++
		return add(t.Context(), chat.Turn{}, a)
	})
	call := func(b *Box, turn chat.Turn, args string) string {
		res, err := b.Call(t.Context(), turn, "pay", json.RawMessage(args))
		if err != nil {
			return err.Error()
		}
		return string(res.Data)
	}
	b := NewAskingBox(asker, nil, made)
	const asked = `{"asked":"{\"a\":1}","message":"wait"}`
	if got := call(b, turn(chat.Owner), `{"a":1}`); got != asked || ran != 0 {
		t.Errorf("%s, ran %d times", got, ran)
	}
	if got := call(b, turn(chat.Foreign), `{"a":1}`); got != asked { // the asker knows whether the person may
		t.Errorf("a standing that fell: %s", got)
	}
	if call(b, turn(chat.Owner), `{"a":"x"}`); put != 2 {
		t.Error("wrong arguments were asked about")
	}
	typed := turn(chat.Owner)
	typed.Kind = chat.Notice
	if got := call(b, typed, `{"a":1}`); got != "1" {
		t.Errorf("a command of the person's own: %s", got)
	}
	run = true
	if got := call(b, turn(chat.Owner), `{"a":2}`); got != "2" {
		t.Errorf("a person who need not be asked: %s", got)
	}
	if call(NewBox(nil, made), turn(chat.Owner), `{"a":1}`); ran != 2 {
		t.Error("it ran where nobody can be asked")
	}
}

func TestApproved(t *testing.T) {
	made := New(Tool{Name: "pay", Needs: chat.Known, Ask: Always}, add)
	b := NewBox(nil, made)
	yes := turn(chat.Foreign)
	yes.Kind = chat.Approved
	other := New(Tool{Name: "pay"}, func(context.Context, chat.Turn, struct{ B int }) (int, error) { return 0, nil })
	for name, c := range map[string]struct {
		turn   chat.Turn
		by     chat.Trust
		schema string
		call   Call
		status int
	}{
		"as it was shown":                {yes, chat.Known, made.Schema(), Call{Tool: "pay", Args: []byte(`{"a":1}`)}, 0},
		"in another kind of turn":        {turn(chat.Owner), chat.Owner, made.Schema(), Call{Tool: "pay", Args: []byte(`{"a":1}`)}, 403},
		"by somebody who may not":        {yes, chat.Public, made.Schema(), Call{Tool: "pay", Args: []byte(`{"a":1}`)}, 403},
		"the tool has changed":           {yes, chat.Known, other.Schema(), Call{Tool: "pay", Args: []byte(`{"a":1}`)}, 409},
		"the tool is gone":               {yes, chat.Known, made.Schema(), Call{Tool: "fly"}, 404},
		"what does not fit, after all":   {yes, chat.Known, made.Schema(), Call{Tool: "pay", Args: []byte(`{}`)}, 400},
		"a tool that breaks while it is": {yes, chat.Known, made.Schema(), Call{Tool: "pay", Args: []byte(`{"a":13}`)}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.Approved(t.Context(), c.turn, c.by, c.schema, c.call)
			var fault Fault
			if errors.As(err, &fault); fault.Status != max(c.status, 0) || (err == nil) != (c.status == 0) {
				t.Errorf("%v", err)
			}
		})
	}
}
