package loop

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/llm"
)

const (
	// mostCalls bounds the calls of one answer; more are not made.
	mostCalls = 128
	// callGrace is how long a call whose time is over may take to end, before it is given up.
	callGrace = time.Second
	// mostShown is how much of a result a watcher is shown, in bytes.
	mostShown = 4 << 10
)

// batch is the calls of one answer. They run at once, as many as may; their results stand in their order.
type batch struct {
	turn     *turn
	calls    []llm.Call
	outcomes []outcome
	slots    chan struct{}
	ended    chan ending // has room for all calls
	out      int         // calls that were started and have not ended
}

// ending is a call that has ended.
type ending struct {
	call int
	outcome
}

// serve makes the calls and puts their results into the conversation. When ctx ends, so do the calls.
func (r *turn) serve(ctx context.Context, calls []llm.Call) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &batch{turn: r, calls: calls, outcomes: make([]outcome, len(calls)), ended: make(chan ending, len(calls)),
		slots: make(chan struct{}, max(r.session.agent.cfg.ParallelTools, 1))}
	var asking []int
	for i := range calls {
		switch e, known := r.session.tools.entries[calls[i].Name]; {
		case i >= mostCalls:
			b.finish(ending{i, outcome{text: r.session.agent.words.TooMany, failed: true}})
		case !known:
			b.finish(ending{i, outcome{text: r.session.agent.words.Unknown, failed: true}})
		case e.plan:
			b.finish(ending{i, r.plan(calls[i].Input)})
		case e.asks && !r.session.always[calls[i].Name]:
			asking = append(asking, i)
		default:
			b.start(ctx, i, e)
		}
	}
	for _, i := range asking {
		if e := r.session.tools.entries[calls[i].Name]; r.permitted(ctx, i, e) {
			b.start(ctx, i, e)
		} else {
			b.finish(ending{i, outcome{text: r.session.agent.words.Denied, failed: true}})
		}
	}
	for ; b.out > 0; b.out-- {
		b.finish(<-b.ended)
	}
	r.answer = len(r.shown)
	b.put()
}

// put puts the results into the conversation, and after them the pictures that came with them.
func (b *batch) put() {
	var parts, images []llm.Part
	for i, o := range b.outcomes {
		parts = append(parts, llm.Result{Call: b.calls[i].ID, Text: o.text, Failed: o.failed})
		for _, image := range o.images {
			images = append(images, image)
		}
	}
	s := b.turn.session
	s.mu.Lock()
	defer s.mu.Unlock()
	s.talk.add(llm.Message{Role: llm.User, Parts: append(parts, images...)})
}

// finish takes the outcome of a call.
func (b *batch) finish(e ending) {
	r := b.turn
	e.text = r.session.bounded(e.text)
	b.outcomes[e.call] = e.outcome
	status := agent.StatusCompleted
	if e.failed {
		status = agent.StatusFailed
	}
	r.mark(r.answer+e.call, status, e.text)
}

// mark tells the watcher how far a call is.
func (r *turn) mark(n int, status agent.ToolStatus, output string) {
	call := &r.shown[n]
	if call.Status == agent.StatusCompleted || call.Status == agent.StatusFailed {
		return
	}
	call.Status = status
	call.Output = shorten(output, mostShown)
	r.watch.Saw(*call)
}

// start runs a call on a goroutine of its own, which ends when the tool has. The outcome comes at the latest a grace
// after the call's time, or the turn, is over: a tool that heeds no end is given up, and the session knows of it.
func (b *batch) start(ctx context.Context, i int, e entry) {
	s := b.turn.session
	b.turn.mark(b.turn.answer+i, agent.StatusRunning, "")
	b.out++
	s.enter()
	var tell sync.Once
	go func() {
		defer s.leave()
		select {
		case b.slots <- struct{}{}:
		case <-ctx.Done():
			b.ended <- ending{i, outcome{text: s.agent.words.TurnEnded, failed: true}}
			return
		}
		done := func(o func() outcome) { tell.Do(func() { <-b.slots; b.ended <- ending{i, o()} }) }
		limited, cancel := context.WithTimeoutCause(ctx, ms(s.agent.cfg.ToolTimeoutMs), errSlow)
		defer cancel()
		defer context.AfterFunc(limited, func() {
			time.AfterFunc(callGrace, func() {
				done(func() outcome { return s.explain(limited, b.calls[i].Name, context.Cause(limited)) })
			})
		})()
		o := b.turn.run(limited, b.calls[i], e)
		done(func() outcome { return o })
	}()
}

// plan notes the steps down and shows them.
func (r *turn) plan(input json.RawMessage) outcome {
	var plan struct {
		Steps []string `json:"steps"`
	}
	if err := json.Unmarshal(input, &plan); err != nil || plan.Steps == nil {
		return outcome{text: r.session.agent.words.BadPlan, failed: true}
	}
	r.watch.Saw(agent.Plan{Steps: plan.Steps})
	return outcome{text: r.session.agent.words.Planned}
}

// permitted asks the watcher whether a call may run. A yes for always counts for the session.
func (r *turn) permitted(ctx context.Context, i int, e entry) bool {
	call := r.shown[r.answer+i]
	if ctx.Err() != nil || r.session.always[call.Title] {
		return ctx.Err() == nil
	}
	ask := agent.Ask{Call: call.ID, Title: call.Title, Kind: e.kind, Paths: paths(call.Input), RawInput: []byte(call.Input),
		Of: e.of.Server, Tool: e.of.Name, ReadOnly: e.of.ReadOnly, Destroys: e.of.Destroys,
		Options: []agent.Option{
			{ID: string(agent.AllowOnce), Name: "Allow once", Kind: agent.AllowOnce},
			{ID: string(agent.AllowAlways), Name: "Allow for this session", Kind: agent.AllowAlways},
			{ID: string(agent.RejectOnce), Name: "Reject", Kind: agent.RejectOnce},
		}}
	answer := agent.OptionKind(r.watch.Permit(ctx, ask).Option)
	if ctx.Err() != nil {
		return false
	}
	if answer == agent.AllowAlways {
		r.session.always[call.Title] = true
	}
	return answer == agent.AllowOnce || answer == agent.AllowAlways
}

// paths returns the files that an input names where tools usually do.
func paths(input string) []string {
	var named struct {
		Path     string   `json:"path"`
		FilePath string   `json:"file_path"`
		Paths    []string `json:"paths"`
	}
	_ = json.Unmarshal([]byte(input), &named) // one that is not like this names none
	var found []string
	for _, p := range append([]string{named.Path, named.FilePath}, named.Paths...) {
		if p != "" {
			found = append(found, p)
		}
	}
	return found
}

// fall lowers the turn, and every later one of the session, to what came from outside.
func (r *turn) fall() {
	r.turn.Standing.Fall(chat.Foreign)
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	r.session.fallen = true
}
