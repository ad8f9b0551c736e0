// Package agenttest is the contract that every agent must pass, whoever thinks behind it. An agent under test has
// to do certain things when it finds certain words in a prompt; see the constants. What it says and does besides
// is its own affair.
package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/tool"
	"familiar/internal/workspace"
)

// What the agent under test has to do when one of these is in the prompt.
const (
	Say   = "PLEASE-SAY"   // says words of which "hello" is a part
	Think = "PLEASE-THINK" // thinks something with "hidden" in it, then says words with "shown" in them
	Tool  = "PLEASE-NOTE"  // calls the tool note with the text "tea"
	Ask   = "PLEASE-ASK"   // asks for permission to run something, once, and does not say "hello"
	Wait  = "PLEASE-WAIT"  // says words of which "waiting" is a part, and does not come to an end
	See   = "PLEASE-SEE"   // says words of which "picture" is a part, when there is a picture in the prompt
)

// patience bounds every wait of the suite. It decides nothing: only a broken agent meets it.
const patience = time.Minute

// Run checks an agent. make is called for every case, and cleans up after itself.
func Run(t *testing.T, make func(t *testing.T) agent.Agent) {
	for name, check := range map[string]func(*testing.T, *bench){
		"says":                          says,
		"thoughts are no words":         thinks,
		"allowed":                       allowed,
		"refused by kind (BUG-E01)":     refused,
		"tools":                         tools,
		"cancel":                        cancel,
		"cancel answers the permission": cancelAsking,
		"close in mid-turn":             closing,
		"two at once (AF-95)":           two,
		"pictures":                      pictures,
		"nothing after the end":         after,
	} {
		t.Run(name, func(t *testing.T) {
			check(t, &bench{t: t, agent: make(t)})
		})
	}
}

// bench is one agent under test.
type bench struct {
	t     *testing.T
	agent agent.Agent
}

// seat is an open session and what it can reach.
type seat struct {
	agent.Session
	seat  *tool.Seat
	mu    sync.Mutex
	notes []string
}

var sessions atomic.Int64

// open opens a session for a user, with the tool note.
func (b *bench) open(user string) *seat {
	b.t.Helper()
	s := &seat{}
	type note struct {
		Text string `json:"text"`
	}
	type done struct {
		OK bool `json:"ok"`
	}
	box := tool.NewBox(nil, tool.New(tool.Tool{Name: "note", Doc: "Notes something down.", Effect: tool.Writes},
		func(_ context.Context, turn chat.Turn, n note) (done, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.notes = append(s.notes, turn.From.ID+" "+n.Text)
			return done{true}, nil
		}))
	session := fmt.Sprintf("sess_%d_%d", time.Now().UnixNano(), sessions.Add(1))
	s.seat = box.Seat(session, []string{"note"}, func(string) {})
	opened, err := b.agent.Open(b.t.Context(), agent.Opening{Tools: s.seat,
		Workspace: workspace.Ref{Platform: "web", User: user, Session: session}})
	if err != nil {
		b.t.Fatal(err)
	}
	s.Session = opened
	b.t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return s
}

// prompt runs a turn for a user.
func (s *seat) prompt(ctx context.Context, user string, w *Watch, blocks ...agent.Block) (agent.Result, error) {
	turn := chat.NewTurn(chat.Talk, chat.Event{From: chat.Person{Platform: "web", ID: user}}, chat.Owner, time.Now())
	s.seat.Begin(ctx, turn)
	defer s.seat.End()
	return s.Prompt(ctx, turn, blocks, w)
}

// ask runs a turn that must end well.
func (s *seat) ask(t *testing.T, w *Watch, text string) agent.Result {
	t.Helper()
	result, err := s.prompt(t.Context(), "ann", w, agent.Text(text))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// noted returns what the tool was called with.
func (s *seat) noted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.notes...)
}

// running is a turn on a goroutine of its own.
type running struct {
	began chan struct{} // closed when the first words came
	done  chan error
}

// start runs a turn until it waits.
func (s *seat) start(ctx context.Context, w *Watch, text string) *running {
	r := &running{began: make(chan struct{}), done: make(chan error, 1)}
	var once sync.Once
	w.Each = func(u agent.Update) {
		if _, words := u.(agent.Message); words {
			once.Do(func() { close(r.began) })
		}
	}
	go func() {
		_, err := s.prompt(ctx, "ann", w, agent.Text(text))
		r.done <- err
	}()
	return r
}

func await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: not in %s", what, patience)
		panic("unreachable")
	}
}

var errStop = errors.New("somebody said stop")

// isJSON reports whether raw is JSON.
func isJSON(raw []byte) bool { return len(raw) == 0 || json.Valid(raw) }
