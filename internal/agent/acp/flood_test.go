package acp

import (
	"runtime"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
)

// A hundred thousand updates, thoughts among words so that they cannot all be joined: none is lost, and what we hold
// of them stays small.
func TestFloodOfUpdates(t *testing.T) {
	const each, rounds = 5000, 10
	var steps []script.Step
	for range rounds {
		steps = append(steps, script.Step{Say: "abc ", Times: each}, script.Step{Think: "def ", Times: each})
	}
	s := open(t, scripted(t, quick(), says(steps...), nil), opening("ann"))
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	most, seen, said, thought := uint64(0), 0, 0, 0
	w := &agenttest.Watch{Each: func(u agent.Update) {
		switch u := u.(type) {
		case agent.Message:
			said += len(u.Text)
		case agent.Thought:
			thought += len(u.Text)
		}
		if seen++; seen%50 != 0 { // looking stops the world
			return
		}
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapInuse)
	}}
	if _, err := prompt(t.Context(), s, w, "go"); err != nil {
		t.Fatal(err)
	}
	if want := rounds * each * len("abc "); said != want || thought != want {
		t.Errorf("%d bytes of words and %d of thoughts, want %d of each", said, thought, want)
	}
	if grown := int64(most) - int64(before.HeapInuse); grown > 64<<20 {
		t.Errorf("it held %d MiB more", grown>>20)
	}
}

// A line of just under 64 MiB is taken; one above it is passed over, and the connection lives.
func TestTheLongestLine(t *testing.T) {
	const under, over = 64<<20 - 1<<10, 64<<20 + 1<<10
	s := open(t, scripted(t, quick(), says(script.Step{Fill: under}, script.Step{Fill: over}, script.Step{Say: "tail"}), nil), opening("ann"))
	w := ask(t, s, "go")
	if said := w.Said(); len(said) != under+len("tail") || !strings.HasSuffix(said, "tail") {
		t.Errorf("%d bytes came, want %d", len(said), under+len("tail"))
	}
}
