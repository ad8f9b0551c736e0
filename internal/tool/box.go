package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"familiar/internal/chat"
)

// Box holds every tool that this bot has. It never changes once made, so it is safe for concurrent use.
type Box struct {
	tools []Tool
	seen  func(chat.Turn, Call)
	ask   Asker
}

// Call is a tool call that has ended, for whoever records.
type Call struct {
	Tool string
	Args json.RawMessage
	Took time.Duration
	Data json.RawMessage // the answer; nil when there is none. Never log it
	Err  error
}

// NewBox makes a box; two tools of one name are a programmer's error and panic. seen, which may be nil, is told
// of every call after it ended, on the caller's goroutine.
func NewBox(seen func(chat.Turn, Call), tools ...Tool) *Box {
	names := map[string]bool{}
	for _, t := range tools {
		if names[t.Name] {
			panic("two tools are called " + t.Name)
		}
		names[t.Name] = true
	}
	if seen == nil {
		seen = func(chat.Turn, Call) {}
	}
	return &Box{tools: tools, seen: seen}
}

// Tools returns all tools, in the order in which the box was filled.
func (b *Box) Tools() []Tool { return b.tools }

// Find returns the tool of that name.
func (b *Box) Find(name string) (Tool, bool) {
	for _, t := range b.tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Call runs a tool for a turn: an unknown name is a Fault of 404, a standing that is too low one of 403, wrong
// arguments one of 400. A tool that asks answers Asked at once, also where the standing is too low for it but the
// person may say yes. A tool that panics ends as an error; it never takes the program along.
func (b *Box) Call(ctx context.Context, t chat.Turn, name string, args json.RawMessage) (Result, error) {
	return b.recorded(t, name, args, func() (Result, error) {
		found, ok := b.Find(name)
		if !ok {
			return Result{}, Fault{404, fmt.Sprintf("there is no tool %q", name)}
		}
		if t.Standing.Now() < found.Needs && !found.asks(t) {
			return Result{}, Fault{403, fmt.Sprintf("%s needs more trust than this turn has", name)}
		}
		if len(args) == 0 || string(args) == "null" {
			args = json.RawMessage("{}")
		}
		if err := found.check(args); err != nil {
			return Result{}, err
		}
		if found.asks(t) {
			if res, run, err := b.put(ctx, t, found, args); err != nil || !run {
				return res, err
			}
		}
		return found.guarded(ctx, t, args)
	})
}

// recorded makes a call and tells of it after it ended.
func (b *Box) recorded(t chat.Turn, name string, args json.RawMessage, call func() (Result, error)) (Result, error) {
	began := time.Now()
	res, err := call()
	b.seen(t, Call{Tool: name, Args: args, Took: time.Since(began), Data: res.Data, Err: err})
	return res, err
}

// guarded runs the tool; a panic is its error.
func (t Tool) guarded(ctx context.Context, turn chat.Turn, args json.RawMessage) (res Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("tool %s panicked: %v\n%s", t.Name, r, debug.Stack())
		}
	}()
	return t.run(ctx, turn, args)
}

// ErrNoTurn says that a tool was called when no turn was running: before it began, or after it ended.
var ErrNoTurn = errors.New("no turn is running in this session")
