package host

import (
	"context"
	"database/sql"
	"encoding/json"
	"sync"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/phrase"
	"familiar/internal/tool"
)

// hasty is an agent whose turn ends while its reply waits to be written down. Where the turn ends with an error its way
// to the tools breaks with it, as that of a process does.
type hasty struct {
	err   error
	hold  func()          // lets nothing be written down from now on
	begun func(chat.Turn) // returns when the reply is on its way
	ended chan struct{}   // is closed when the turn is
	tools tool.Caller
	calls sync.WaitGroup
}

func (*hasty) Name() string   { return "hasty" }
func (*hasty) ID() string     { return "h" }
func (*hasty) Can() agent.Can { return agent.Can{} }
func (*hasty) Close() error   { return nil }

func (a *hasty) Open(_ context.Context, o agent.Opening) (agent.Session, error) {
	a.tools = o.Tools
	return a, nil
}

func (a *hasty) Prompt(ctx context.Context, t chat.Turn, _ []agent.Block, _ agent.Watcher) (agent.Result, error) {
	ctx, cut := context.WithCancel(ctx)
	a.hold()
	a.calls.Go(func() {
		defer cut()
		_, _ = a.tools.Call(ctx, "send-reply", json.RawMessage(`{"message":"here you are"}`))
	})
	a.begun(t)
	if a.err != nil {
		cut()
	}
	close(a.ended)
	return agent.Result{Stop: agent.EndTurn}, a.err
}

// What a turn came to is told when the last of its calls has ended. An agent that dies before its reply was written down
// has not answered, and the person is told; one that only does not wait for its reply has, and is not asked again.
func TestTheLastCallOfATurn(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		says func(r *rig) string
	}{
		{"the agent dies", agent.ErrGone, func(r *rig) string { return r.phrases.Say(phrase.Sorry) }},
		{"the agent does not wait", nil, func(*rig) string { return "here you are" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &hasty{err: c.err, ended: make(chan struct{})}
			r := liveWith(t, dir(t), nil, func(o *Options) { o.Agent = a })
			held, free := make(chan struct{}), make(chan struct{})
			a.hold = func() {
				a.calls.Go(func() {
					err := r.db.Write(t.Context(), func(*sql.Tx) error { close(held); <-free; return nil })
					if err != nil {
						t.Error(err)
					}
				})
				<-held
			}
			a.begun = func(turn chat.Turn) {
				r.until("the reply is on its way", func() bool { return r.outbox.Deeds(turn).Replied })
			}
			r.hears(event("g", "ann", "hi"), chat.Accepted)
			<-a.ended
			close(free)
			r.says("g: " + c.says(r))
			a.calls.Wait()
		})
	}
}
