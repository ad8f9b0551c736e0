package script_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agent.Agent {
		a := script.New(script.Contract())
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if n := a.Living(); n != 0 {
				t.Errorf("%d sessions are left", n)
			}
		})
		return a
	})
}

// What a script cannot know beforehand is filled in: the last of what it looks for in the prompt, the last answer, and the last
// message that an answer named.
func TestBlanks(t *testing.T) {
	var heard []string
	echo := tool.New(tool.Tool{Name: "echo", Doc: "echo", Effect: tool.Reads},
		func(_ context.Context, _ chat.Turn, a struct {
			Text string `json:"text"`
		}) (string, error) {
			heard = append(heard, a.Text)
			return `said "` + a.Text + `"`, nil
		})
	type sent struct {
		MessageID string `json:"messageId"`
	}
	send := tool.New(tool.Tool{Name: "send", Doc: "send", Effect: tool.Reads},
		func(context.Context, chat.Turn, struct{}) (sent, error) { return sent{"m-1"}, nil })
	seat := tool.NewBox(nil, echo, send).Seat("sess", []string{"echo", "send"}, func(string) {})
	turn := chat.Turn{ID: "t", Standing: chat.NewStanding(chat.Owner)}
	seat.Begin(t.Context(), turn)
	defer seat.End()
	say := func(text string) script.Step {
		return script.Step{Call: "echo", Args: json.RawMessage(`{"text":"` + text + `"}`)}
	}
	a := script.New(script.Script{Find: `n-\d+`, Turns: []script.Turn{{Steps: []script.Step{say("{{found}}"), say("{{answer}}, {{other}}"),
		{Call: "send", Args: json.RawMessage(`{}`)}, say("on"), say("{{message}}")}}}})
	s, err := a.Open(t.Context(), agent.Opening{Tools: seat})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, prompt := range []string{"n-1, then n-22.", "n-3"} {
		if _, err := s.Prompt(t.Context(), turn, []agent.Block{agent.Text(prompt)}, deaf{}); err != nil {
			t.Fatal(err)
		}
	}
	once := `n-22; "said \"n-22\"", {{other}}; on; m-1`
	if got := strings.Join(heard, "; "); got != once+"; "+once {
		t.Fatal(got)
	}
}

// What is played can depend on what was found, which in a prompt with a history is the newest of its kind.
func TestTurnsByWhatWasFound(t *testing.T) {
	s := script.Script{Find: `n-\d+ \w+`, Turns: []script.Turn{{Found: " fail", Steps: []script.Step{{Fail: "as told"}}}, {Steps: []script.Step{{Say: "well"}}}}}
	for prompt, fails := range map[string]bool{"n-1 fail, then n-2 go": false, "n-1 go, then n-2 fail": true} {
		session, err := script.New(s).Open(t.Context(), agent.Opening{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Prompt(t.Context(), chat.Turn{}, []agent.Block{agent.Text(prompt)}, deaf{}); (err != nil) != fails {
			t.Errorf("%q: %v", prompt, err)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
}

type deaf struct{}

func (deaf) Saw(agent.Update) {}

func (deaf) Permit(context.Context, agent.Ask) agent.Answer { return agent.Answer{} }
