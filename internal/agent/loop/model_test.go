package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/llm"
	"familiar/internal/tool"
)

func TestMain(m *testing.M) {
	serveOnStreams()
	goleak.VerifyTestMain(m)
}

// mind is a model that answers by a func, and keeps what it was asked. Each answer is streamed piece by piece.
type mind struct {
	answer func(ctx context.Context, q llm.Question, saw func(llm.Piece)) (llm.Answer, error)

	mu    sync.Mutex
	asked []llm.Question
}

func (*mind) Name() string     { return "mind-1" }
func (*mind) Provider() string { return "Mind" }

func (m *mind) Ask(ctx context.Context, q llm.Question, saw func(llm.Piece)) (llm.Answer, error) {
	m.mu.Lock()
	m.asked = append(m.asked, q)
	m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return llm.Answer{}, context.Cause(ctx)
	}
	if fault := refuse(q); fault != nil {
		return llm.Answer{}, fault
	}
	return m.answer(ctx, q, saw)
}

func (m *mind) questions() []llm.Question {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]llm.Question(nil), m.asked...)
}

// refuse is what every provider does with a conversation that is not whole.
func refuse(q llm.Question) error {
	if say := flaw(q.Messages); say != "" {
		return llm.Problem{Kind: llm.Declined, Say: "400: " + say}
	}
	if n := len(q.Messages); n == 0 || q.Messages[n-1].Role != llm.User {
		return llm.Problem{Kind: llm.Declined, Say: "400: nothing is asked"}
	}
	return nil
}

// flaw says what is wrong with a conversation, "" when it is whole.
func flaw(messages []llm.Message) string {
	open := []string{}
	ids := map[string]bool{}
	for i, m := range messages {
		if want := []llm.Role{llm.User, llm.Assistant}[i%2]; m.Role != want {
			return fmt.Sprintf("message %d is of %s", i, m.Role)
		}
		if len(m.Parts) == 0 {
			return fmt.Sprintf("message %d is empty", i)
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Text:
				if strings.TrimSpace(string(p)) == "" || strings.ToValidUTF8(string(p), "") != string(p) {
					return fmt.Sprintf("message %d has a bad text", i)
				}
			case llm.Image:
				if mime, ok := whole(p.Data); !ok || mime != p.MIME || m.Role != llm.User {
					return fmt.Sprintf("message %d has a bad image", i)
				}
			case llm.Call:
				if m.Role != llm.Assistant || ids[p.ID] || plainName(p.ID) != p.ID || plainName(p.Name) != p.Name {
					return fmt.Sprintf("message %d has a bad call %q", i, p.ID)
				}
				var object map[string]any
				if json.Unmarshal(p.Input, &object) != nil || object == nil || string(wholeEscapes(p.Input)) != string(p.Input) {
					return fmt.Sprintf("message %d has a call of bad input", i)
				}
				ids[p.ID] = true
				open = append(open, p.ID)
			case llm.Result:
				if m.Role != llm.User || len(open) == 0 || open[0] != p.Call {
					return fmt.Sprintf("message %d has a result of no call: %q", i, p.Call)
				}
				open = open[1:]
			case llm.Thinking:
				if m.Role != llm.Assistant {
					return fmt.Sprintf("message %d thinks", i)
				}
			default:
				return fmt.Sprintf("message %d has a %T", i, p)
			}
		}
		if m.Role == llm.User && len(open) > 0 {
			return fmt.Sprintf("the call %s has no result", open[0])
		}
	}
	return ""
}

// says streams an answer.
func says(stop llm.Stop, saw func(llm.Piece), parts ...llm.Part) (llm.Answer, error) {
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			saw(llm.Piece{Text: string(p)})
		case llm.Thinking:
			saw(llm.Piece{Thinking: p.Text})
		case llm.Call:
			saw(llm.Piece{Call: &p})
		}
	}
	return llm.Answer{Parts: parts, Stop: stop, Usage: llm.Usage{Input: 10, Output: 1}}, nil
}

// steps answers one question after the other, and with «done» when there is nothing left to answer.
func steps(all ...[]llm.Part) *mind {
	var mu sync.Mutex
	return &mind{answer: func(_ context.Context, _ llm.Question, saw func(llm.Piece)) (llm.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(all) == 0 {
			return says(llm.Ended, saw, llm.Text("done"))
		}
		now := all[0]
		all = all[1:]
		stop := llm.Ended
		for _, p := range now {
			if _, ok := p.(llm.Call); ok {
				stop = llm.WantsTool
			}
		}
		return says(stop, saw, now...)
	}}
}

func call(name, input string) llm.Call {
	return llm.Call{ID: "toolu_" + name, Name: name, Input: json.RawMessage(input)}
}

// results returns the results in the last message of the last question.
func results(t *testing.T, m *mind) []llm.Result {
	t.Helper()
	asked := m.questions()
	last := asked[len(asked)-1].Messages
	var found []llm.Result
	for _, p := range last[len(last)-1].Parts {
		if r, ok := p.(llm.Result); ok {
			found = append(found, r)
		}
	}
	return found
}

// rig is an open session of a model.
type rig struct {
	*Session
	agent *Agent
	seat  *tool.Seat
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func open(t *testing.T, cfg Config, m llm.Model, setup Setup, tools ...tool.Tool) *rig {
	t.Helper()
	return opened(t, New(cfg, m, Deps{Log: quiet()}), setup, tools...)
}

func opened(t testing.TB, a *Agent, setup Setup, tools ...tool.Tool) *rig {
	t.Helper()
	r := &rig{agent: a}
	var names []string
	for _, each := range tools {
		names = append(names, each.Name)
	}
	r.seat = tool.NewBox(nil, tools...).Seat("sess_1_a", names, func(string) {})
	s, err := a.OpenWith(t.Context(), agent.Opening{Tools: r.seat}, setup)
	if err != nil {
		t.Fatal(err)
	}
	r.Session = s
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if n := a.Living(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
	})
	return r
}

func (r *rig) prompt(ctx context.Context, w agent.Watcher, blocks ...agent.Block) (agent.Result, chat.Turn, error) {
	turn := chat.NewTurn(chat.Talk, chat.Event{From: chat.Person{Platform: "web", ID: "ann"}}, chat.Owner, when)
	r.seat.Begin(ctx, turn)
	defer r.seat.End()
	res, err := r.Prompt(ctx, turn, blocks, w)
	return res, turn, err
}

// whole fails the test when the session's conversation is not one that can go on.
func (r *rig) whole(t *testing.T) History {
	t.Helper()
	h := r.History()
	if say := flaw(h.Messages); say != "" {
		t.Errorf("the conversation is not whole: %s", say)
	}
	if n := len(h.Messages); n > 0 && h.Messages[n-1].Role != llm.Assistant {
		t.Error("the conversation ends with a question")
	}
	return h
}

var errStop = errors.New("somebody said stop")
