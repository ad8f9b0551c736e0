package acp

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/acp/profile"
	"familiar/internal/agent/agenttest"
	"familiar/internal/llm/llmtest"
)

// openCode finds the real program. In CI a test without it is no test.
func openCode(t *testing.T) string {
	t.Helper()
	places := []string{os.Getenv("OPENCODE_BIN"), "opencode"}
	if wd, err := os.Getwd(); err == nil {
		places = append(places, filepath.Join(wd, "../../../node_modules/.bin/opencode"))
	}
	for _, place := range places {
		if path, err := exec.LookPath(place); place != "" && err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("OpenCode is not here: run make deps, or set OPENCODE_BIN")
	}
	t.Skip("OpenCode is not here: run make deps, or set OPENCODE_BIN")
	return ""
}

// operator makes the HOME of somebody whose OpenCode uses the model server.
func operator(t *testing.T, model *llmtest.Server) string {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "opencode")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`{
		// as people write it
		"model": "stub/stub-1", "small_model": "stub/stub-1", "enabled_providers": ["stub"],
		"permission": {"bash": "allow"},
		"provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "name": "Stub",
			"options": {"baseURL": %q, "apiKey": "{env:STUB_KEY}"},
			"models": {
				"stub-1": {"name": "One", "tool_call": true, "attachment": true, "reasoning": true,
					"limit": {"context": 200000, "output": 8000}, "modalities": {"input": ["text", "image"], "output": ["text"]}},
				"stub-2": {"name": "Two", "tool_call": true, "limit": {"context": 200000, "output": 8000}},
			}}},
	}`, model.URL())
	if err := os.WriteFile(filepath.Join(dir, "opencode.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// realOpenCode makes an agent of the real program, against a model that plays the script.
func realOpenCode(t *testing.T, script llmtest.Script, change func(*Config, *Deps)) (*Agent, *llmtest.Server) {
	t.Helper()
	path := openCode(t)
	model := llmtest.Start(t, script)
	server := doors(t)
	cfg := quick()
	cfg.ConnectTimeoutMs = 60_000
	cfg.Env = map[string]string{"OPENCODE_DISABLE_MODELS_FETCH": "1"}
	deps := Deps{Log: quiet(), Enter: folders(t).Enter, Door: server.Admit, Home: operator(t, model),
		Parent: append(os.Environ(), "STUB_KEY=stub-secret-key")}
	if change != nil {
		change(&cfg, &deps)
	}
	p, err := profile.Build("opencode", profile.Operator{Home: deps.Home, Parent: deps.Parent})
	if err != nil {
		t.Fatal(err)
	}
	p.Command = path
	a, err := New(cfg, p, deps)
	if err != nil {
		t.Fatal(err)
	}
	gone(t, a)
	return a, model
}

// contractModel is a model that makes OpenCode do what agenttest asks for.
func contractModel(hold <-chan struct{}) llmtest.Script {
	call := func(name, arguments string) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: name, Arguments: arguments}}}
	}
	return llmtest.Script{APIKey: "stub-secret-key", Rules: []llmtest.Rule{
		{Match: llmtest.Match{AfterTool: "."}, Reply: llmtest.Reply{Text: "done: {{tool_result}}"}},
		{Match: llmtest.Match{LastUser: agenttest.Say}, Reply: llmtest.Reply{Text: "hello", ChunkSize: 2}},
		{Match: llmtest.Match{LastUser: agenttest.Think}, Reply: llmtest.Reply{Thinking: "hidden", Text: "shown"}},
		{Match: llmtest.Match{LastUser: agenttest.Tool, HasTool: "familiar_note"}, Reply: call("familiar_note", `{"text":"tea"}`)},
		{Match: llmtest.Match{LastUser: agenttest.Ask}, Reply: call("bash", `{"command":"echo hi","description":"greet"}`)},
		{Match: llmtest.Match{LastUser: agenttest.See, HasImage: true}, Reply: llmtest.Reply{Text: "a picture"}},
		{Match: llmtest.Match{LastUser: agenttest.Wait}, Reply: llmtest.Reply{Text: "waiting", ChunkSize: 100, HoldRest: hold}},
	}}
}

func TestOpenCodeContract(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agent.Agent {
		hold := make(chan struct{})
		a, _ := realOpenCode(t, contractModel(hold), nil)
		t.Cleanup(func() { close(hold) })
		return a
	})
}

// What the operator configured of providers counts, the rest of it and what lies in the workspace does not.
func TestOpenCodeConfiguration(t *testing.T) {
	var work string
	a, model := realOpenCode(t, contractModel(nil), func(cfg *Config, deps *Deps) {
		cfg.Model = "stub/stub-2"
		folders := folders(t)
		home, err := folders.Home("web", "ann")
		if err != nil {
			t.Fatal(err)
		}
		work = filepath.Join(home, "work")
		if err := os.MkdirAll(work, 0o700); err != nil {
			t.Fatal(err)
		}
		deps.Enter = folders.Enter
	})
	if err := os.WriteFile(filepath.Join(work, "opencode.json"), []byte(`{"permission":{"bash":"allow"},"agent":{"build":{"permission":{"bash":"allow"}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w := ask(t, open(t, a, opening("ann")), agenttest.Ask)
	if len(w.Asks()) == 0 {
		t.Error("it ran a command unasked: a configuration that is not ours counted")
	}
	for _, r := range model.Requests() {
		if r.Model != "stub-2" || r.Rule == "auth" {
			t.Errorf("a request for %q, answered by %q", r.Model, r.Rule)
		}
		if !strings.Contains(r.System, "behind a chat") {
			t.Errorf("a request without our words: %.200s", r.System)
		}
	}
}

// The skills are found where they are laid, in a HOME that is the session's own.
func TestOpenCodeSkills(t *testing.T) {
	skills := t.TempDir()
	if err := os.MkdirAll(filepath.Join(skills, "wave"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: wave\ndescription: Waves at somebody\n---\n\nWave twice.\n"
	if err := os.WriteFile(filepath.Join(skills, "wave", "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, model := realOpenCode(t, llmtest.Script{Rules: []llmtest.Rule{
		{Match: llmtest.Match{AfterTool: "skill"}, Reply: llmtest.Reply{Text: "read"}},
		{Match: llmtest.Match{HasTool: "skill"}, Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: "skill", Arguments: `{"name":"wave"}`}}}},
	}}, func(_ *Config, deps *Deps) { deps.Skills = skills })
	w := ask(t, open(t, a, opening("ann")), "wave")
	var read string
	for _, r := range model.Requests() {
		if r.AfterTool {
			read = r.ToolResult
		}
	}
	if !strings.Contains(read, "Wave twice.") || len(w.Asks()) != 0 {
		t.Errorf("the skill gave %q after %d questions", read, len(w.Asks()))
	}
}

// In the mode yolo nothing is asked, and the walls still stand.
func TestOpenCodeYolo(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("the treasure"), 0o600); err != nil {
		t.Fatal(err)
	}
	arguments, err := json.Marshal(map[string]string{"command": "echo can run; cat " + secret, "description": "look"})
	if err != nil {
		t.Fatal(err)
	}
	a, model := realOpenCode(t, llmtest.Script{Rules: []llmtest.Rule{
		{Match: llmtest.Match{AfterTool: "bash"}, Reply: llmtest.Reply{Text: "ok"}},
		{Match: llmtest.Match{HasTool: "bash"}, Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: "bash", Arguments: string(arguments)}}}},
	}}, nil)
	o := opening("ann")
	o.Mode = "yolo"
	w := ask(t, open(t, a, o), "go")
	var result string
	for _, r := range model.Requests() {
		if r.AfterTool {
			result = r.ToolResult
		}
	}
	if len(w.Asks()) != 0 || !strings.Contains(result, "can run") || strings.Contains(result, "treasure") ||
		!strings.Contains(result, "denied") {
		t.Errorf("%d questions, and the shell said %q", len(w.Asks()), result)
	}
}
