package host

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/tool"
)

// cast is the agent of a story: each session that is opened does what the next play says.
type cast struct {
	t    *testing.T
	show func(string) string // writes ids in the place of their names

	mu      sync.Mutex
	plays   []play
	prompts []string
	holding map[*actor]context.Context // of the turns that are held
	holds   map[string]chan struct{}
}

func (*cast) Name() string { return "script" }

// Open takes the next play. What is prompted more often than the play says is answered with nothing.
func (c *cast) Open(ctx context.Context, o agent.Opening) (agent.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.plays) == 0 {
		c.t.Error("the agent is asked, and the story says nothing of it")
		c.plays = []play{{nil}}
	}
	var turns []script.Turn
	for _, lines := range append(c.plays[0], nil) {
		var turn script.Turn
		for _, line := range lines {
			turn.Steps = append(turn.Steps, c.steps(c.show(line))...)
		}
		turns = append(turns, turn)
	}
	c.plays = c.plays[1:]
	s, err := script.New(script.Script{Turns: turns}).Open(ctx, o)
	return &actor{Session: s, cast: c}, err
}

func (*cast) Close() error { return nil }

// steps reads one line of a play.
func (c *cast) steps(line string) []script.Step {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "nothing":
		return nil
	case "reply":
		return []script.Step{use("send-reply", map[string]string{"message": rest})}
	case "react":
		return []script.Step{use("react-message", map[string]string{"emoji": rest})}
	case "say":
		return []script.Step{{Say: rest}}
	case "think":
		return []script.Step{{Think: rest}}
	case "fail":
		return []script.Step{{Fail: rest}}
	case "end":
		return []script.Step{{End: agent.StopReason(rest)}}
	case "hold":
		until := make(chan struct{})
		c.holds[rest] = until
		return []script.Step{{Plan: []string{holdPlan, rest}}, {Until: until}}
	case "run":
		input, _ := json.Marshal(map[string]string{"command": rest}) // a map of strings is always JSON
		return []script.Step{{Ask: &agent.Ask{Call: rest, Title: "run it", Kind: agent.KindExecute, RawInput: input,
			Options: []agent.Option{{ID: "yes", Kind: agent.AllowOnce}, {ID: "no", Kind: agent.RejectOnce}}}}}
	}
	if rest == "" {
		rest = "{}"
	}
	if !json.Valid([]byte(rest)) {
		c.t.Errorf("«does %s»: the arguments are no JSON", line)
	}
	return []script.Step{{Call: verb, Args: json.RawMessage(rest)}}
}

// holdPlan is the first step of the plan by which an actor knows that its turn is held; the second is its name.
const holdPlan = "the story holds this turn"

// release lets a turn go on; from then on it counts as running.
func (c *cast) release(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for a := range c.holding {
		if a.hold == name {
			delete(c.holding, a)
			close(c.holds[name])
		}
	}
}

// held reports whether a turn is held under a name.
func (c *cast) held(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for a := range c.holding {
		if a.hold == name {
			return true
		}
	}
	return false
}

// holdsNow is how many turns are held, and were not ended meanwhile.
func (c *cast) holdsNow() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ctx := range c.holding {
		if ctx.Err() == nil {
			n++
		}
	}
	return n
}

func (c *cast) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.plays)
}

func (c *cast) told() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.prompts...)
}

func (c *cast) tell(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prompts = append(c.prompts, text)
}

// actor is one session of the cast.
type actor struct {
	agent.Session
	cast *cast
	hold string // the name under which its turn was held last; under the lock of cast
}

func (a *actor) Can() agent.Can {
	can := a.Session.Can()
	can.Steer = true
	return can
}

func (a *actor) Prompt(ctx context.Context, t chat.Turn, blocks []agent.Block, w agent.Watcher) (agent.Result, error) {
	var text strings.Builder
	for _, b := range blocks {
		switch b := b.(type) {
		case agent.Text:
			text.WriteString(string(b))
		case agent.Image:
			fmt.Fprintf(&text, "\n[picture %s, %d bytes]", b.MIME, len(b.Data))
		}
	}
	a.cast.tell(text.String())
	defer func() {
		a.cast.mu.Lock()
		defer a.cast.mu.Unlock()
		delete(a.cast.holding, a)
	}()
	return a.Session.Prompt(ctx, t, blocks, seer{w, a, ctx})
}

// Steer takes words while the turn is held.
func (a *actor) Steer(text string) error {
	a.cast.mu.Lock()
	_, holds := a.cast.holding[a]
	a.cast.mu.Unlock()
	if !holds {
		return agent.ErrNoTurn
	}
	a.cast.tell(text)
	return nil
}

// seer notes that a turn is held.
type seer struct {
	agent.Watcher
	actor *actor
	ctx   context.Context
}

func (s seer) Saw(u agent.Update) {
	plan, ok := u.(agent.Plan)
	if !ok || plan.Steps[0] != holdPlan {
		s.Watcher.Saw(u)
		return
	}
	s.actor.cast.mu.Lock()
	defer s.actor.cast.mu.Unlock()
	s.actor.hold = plan.Steps[1]
	s.actor.cast.holding[s.actor] = s.ctx
}

// tools are those of a story beside our own: one that asks first.
func (c *cast) tools() []tool.Tool {
	type args struct {
		To string `json:"to"`
	}
	return []tool.Tool{tool.New(tool.Tool{Name: "send-mail", Doc: "Sends a mail.", Effect: tool.Speaks, Needs: chat.Public, Ask: tool.Always},
		func(_ context.Context, t chat.Turn, a args) (string, error) { return "sent to " + a.To, nil })}
}
