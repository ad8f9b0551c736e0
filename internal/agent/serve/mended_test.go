package serve_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// BUG-F15: a session whose file lost the result of a call goes on, and who goes on with it is told once.
func TestADamagedSessionGoesOn(t *testing.T) {
	dir, cwd := t.TempDir(), folder(t)
	r := start(t, dir, nil)
	id := r.open(t, cwd)
	r.say(t, id, "READ")
	r.leave()
	file := filepath.Join(dir, string(id)+".jsonl")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	kept := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.Contains(l, `"type":"result"`) })
	if len(kept) != len(lines)-1 {
		t.Fatalf("%d lines hold results", len(lines)-len(kept))
	}
	if err := os.WriteFile(file, []byte(strings.Join(kept, "")), 0o600); err != nil {
		t.Fatal(err)
	}

	r = start(t, dir, nil)
	if _, err := r.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: cwd, McpServers: []sdk.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	if saw := r.client.updates(); tools(saw)["Read a.txt"] != sdk.ToolCallStatusFailed {
		t.Errorf("the call without a result is replayed as %v", tools(saw))
	}
	for turn, want := range []int{1, 0} {
		_, saw := r.say(t, id, "good day")
		notices := 0
		for _, u := range saw {
			if u.AgentThoughtChunk != nil {
				notices++
			}
		}
		if notices != want || said(saw) != "hello" {
			t.Errorf("turn %d: %d notices, want %d; it said %q", turn, notices, want, said(saw))
		}
	}
}
