package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/acp/profile"
)

// What would give an agent rights is taken out of its working directory, and nothing else; a link there is removed
// and not followed.
func TestDisarm(t *testing.T) {
	work, away := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(away, "settings.json"), filepath.Join(work, "kept.md")} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(work, ".a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, filepath.Join(work, ".link")); err != nil {
		t.Fatal(err)
	}
	if err := disarm(profile.Profile{Rights: []string{".a", ".link", ".missing"}}, work); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(work)
	if err != nil || len(left) != 1 || left[0].Name() != "kept.md" {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(away, "settings.json")); err != nil {
		t.Errorf("what a link led to is gone: %v", err)
	}
}

// An agent whose Node.js is missing or too old is not started.
func TestFit(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	p := profile.Profile{Name: "X", Node: 22}
	if err := Fit(t.Context(), p); err == nil {
		t.Error("it runs on nothing")
	}
	for version, fits := range map[string]bool{"v20.1.0": false, "v22.0.0": true, "v24.21.0": true, "nonsense": false} {
		text := "#!/bin/sh\necho " + version + "\n"
		if err := os.WriteFile(filepath.Join(bin, "node"), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := Fit(t.Context(), p); (err == nil) != fits {
			t.Errorf("%s: %v", version, err)
		}
	}
	if err := Fit(t.Context(), profile.Profile{}); err != nil {
		t.Error(err)
	}
}

// Asks are made what other agents would have written: the command of a title, the tool of ours behind a title.
func TestPlainAsk(t *testing.T) {
	p := profile.Profile{Oddities: profile.Oddities{CommandInTitle: true, OurTool: "Tool: familiar/{tool}"}}
	s := &session{agent: &Agent{profile: p}, turn: &turn{shown: map[string]string{"c1": "Tool: familiar/send-reply"}}}
	run := agent.Ask{Call: "c2", Title: "ls; env", Kind: agent.KindExecute}
	if s.plain(&run); !strings.Contains(string(run.RawInput), `"command":"ls; env"`) {
		t.Errorf("the command is %s", run.RawInput)
	}
	ours := agent.Ask{Call: "c1", Title: "Approve MCP tool call", RawInput: []byte(`{}`)}
	if s.plain(&ours); ours.Title != "send-reply" {
		t.Errorf("the tool is %q", ours.Title)
	}
	shell := agent.Ask{Call: "c1", Title: "Tool: familiar/send-reply", Kind: agent.KindExecute, RawInput: []byte(`{}`)}
	if s.plain(&shell); shell.Title == "send-reply" {
		t.Error("a command passes for a tool of ours by its title")
	}
}
