package acp

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
)

// BUG-B19 BUG-L06: a prompt of many lines arrives whole, and while the agent works on it no process has a word of it
// among its arguments, where lines can be cut off, room is short and every user of the machine can read them.
func TestPromptsAreNoArguments(t *testing.T) {
	const word = "zanzibar-4711"
	prompt := "first line of " + word + "\nsecond line: \"quoted\" 100% `$HOME`\n" + strings.Repeat("more words. ", 800) + "\nthe last line"
	a := scripted(t, quick(), says(script.Step{Heard: true}), nil)
	told := open(t, a, opening("ann"))
	looked := 0
	w := &agenttest.Watch{Each: func(agent.Update) { looked += lookFor(t, word) }}
	if _, err := told.Prompt(t.Context(), turnOf("ann"), []agent.Block{agent.Text(prompt)}, w); err != nil {
		t.Fatal(err)
	}
	if whole, err := json.Marshal(prompt); err != nil || !strings.Contains(w.Said(), string(whole)) {
		t.Errorf("the agent was told something else: %.2000s", w.Said())
	}
	if looked == 0 {
		t.Error("no process was looked at while the agent worked")
	}
}

// lookFor fails the test where a process has a word among its arguments, and returns how many it looked at.
func lookFor(t *testing.T, word string) (looked int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Error(err)
	}
	for _, path := range all {
		args, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		looked++
		if bytes.Contains(args, []byte(word)) {
			t.Errorf("%s: the prompt is among the arguments", path)
		}
	}
	return looked
}
