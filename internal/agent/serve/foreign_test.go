package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/llm/llmtest"
)

// clients is where clients that we did not write are installed.
const clients = "../../../tools/clients"

// foreign returns what a foreign client needs: Node.js of its own, and its package.
func foreign(t *testing.T, file string) (node, path string) {
	t.Helper()
	dir, err := filepath.Abs(clients)
	if err != nil {
		t.Fatal(err)
	}
	node, path = filepath.Join(dir, "node_modules/node/bin/node"), filepath.Join(dir, file)
	for _, needed := range []string{node, path, filepath.Join(dir, "node_modules/acpx/dist/cli.js")} {
		if _, err := os.Stat(needed); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%v: «make deps» installs it", err)
			}
			t.Skipf("%v: «make deps» installs it", err)
		}
	}
	return node, path
}

// surroundings are the variables of a foreign client and of the agent that it starts.
func surroundings(t *testing.T, url, sessions string) []string {
	t.Helper()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "FAMILIAR_ROOT=" + sessions, "NO_COLOR=1"}
	for name, value := range environment(url) {
		env = append(env, name+"="+value)
	}
	return env
}

// run runs a client and returns what it printed. It must end well, unless it may fail.
func run(t *testing.T, cmd *exec.Cmd, mayFail bool) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !mayFail {
		t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	if strings.Contains(out.String()+errs.String(), "key-of-the-test") {
		t.Error("the key is shown")
	}
	return out.String()
}

// turnSeen is a turn as drive.mjs prints it.
type turnSeen struct {
	Stop  string   `json:"stop"`
	Kinds []string `json:"kinds"`
	Said  string   `json:"said"`
	Asked string   `json:"asked"`
	Calls []string `json:"calls"`
}

// TestOfficialClient drives «familiar agent» with the client of the protocol's own SDK.
func TestOfficialClient(t *testing.T) {
	node, driver := foreign(t, "drive.mjs")
	held := make(chan struct{})
	model := llmtest.Start(t, mind(held))
	t.Cleanup(func() { close(held) })
	cwd, file, sessions := folder(t), filepath.Join(t.TempDir(), "notes"), t.TempDir()
	env := map[string]string{}
	for _, pair := range surroundings(t, model.URL(), sessions) {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	plan, err := json.Marshal(map[string]any{"command": self(t), "args": []string{"agent"}, "env": env, "cwd": cwd,
		"server": map[string]any{"name": "notebook", "command": self(t), "args": []string{},
			"env": []map[string]string{{"name": notebook, "value": file}}}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, driver, string(plan))
	cmd.Env = surroundings(t, model.URL(), sessions)
	var got struct {
		Modes                                            []string `json:"modes"`
		Call, Refused, Allowed, Cancelled, Loaded, After turnSeen
		Permissions                                      []struct {
			Kinds []string `json:"kinds"`
			Diff  bool     `json:"diff"`
		} `json:"permissions"`
		Listed    []string `json:"listed"`
		Exit      int      `json:"exit"`
		ExitAgain int      `json:"exitAgain"`
	}
	out := run(t, cmd, false)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if notes(t, file) != "tea\n" || got.Call.Stop != "end_turn" || !slices.Equal(got.Call.Calls, []string{"completed"}) {
		t.Errorf("the MCP call: noted %q, %+v", notes(t, file), got.Call)
	}
	if !slices.Equal(got.Refused.Calls, []string{"failed"}) || !slices.Equal(got.Allowed.Calls, []string{"completed"}) {
		t.Errorf("refused %+v, allowed %+v", got.Refused, got.Allowed)
	}
	if len(got.Permissions) != 3 || got.Permissions[0].Kinds[0] != "allow_once" || got.Permissions[0].Diff || !got.Permissions[1].Diff {
		t.Errorf("the permissions are %+v", got.Permissions)
	}
	if got.Cancelled.Stop != "cancelled" || got.Exit != 0 || got.ExitAgain != 0 {
		t.Errorf("cancelled %+v, exit codes %d and %d", got.Cancelled, got.Exit, got.ExitAgain)
	}
	if !strings.HasPrefix(got.Loaded.Asked, "JOTWRITEWRITEHOLD") || len(got.Loaded.Calls) != 3 || !slices.Equal(got.Listed, []string{"JOT"}) {
		t.Errorf("loaded %+v, listed %q", got.Loaded, got.Listed)
	}
	if got.After.Said != "hello" {
		t.Errorf("after the load it said %q", got.After.Said)
	}
}

// TestAcpx drives «familiar agent» with a headless client that people use.
func TestAcpx(t *testing.T) {
	node, cli := foreign(t, "node_modules/acpx/dist/cli.js")
	held := make(chan struct{})
	model := llmtest.Start(t, mind(held))
	t.Cleanup(func() { close(held) })
	cwd, file, sessions := folder(t), filepath.Join(t.TempDir(), "notes"), t.TempDir()
	env := surroundings(t, model.URL(), sessions)
	config, err := json.Marshal(map[string]any{"mcpServers": []map[string]any{{"name": "notebook", "type": "stdio",
		"command": self(t), "args": []string{}, "env": []map[string]string{{"name": notebook, "value": file}}}}})
	if err != nil {
		t.Fatal(err)
	}
	servers := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(servers, config, 0o600); err != nil {
		t.Fatal(err)
	}
	acpx := func(ctx context.Context, args ...string) *exec.Cmd {
		all := append([]string{cli, "--agent", self(t) + " agent", "--cwd", cwd, "--mcp-config", servers, "--ttl", "1"}, args...)
		cmd := exec.CommandContext(ctx, node, all...)
		cmd.Env = append(slices.Clone(env), "PATH="+filepath.Dir(node)+":"+os.Getenv("PATH"))
		cmd.Dir = cwd
		return cmd
	}
	if out := run(t, acpx(t.Context(), "--approve-all", "exec", "JOT"), false); notes(t, file) != "tea\n" {
		t.Errorf("the MCP call: noted %q, printed %q", notes(t, file), out)
	}
	run(t, acpx(t.Context(), "--deny-all", "exec", "WRITE"), true)
	if text := notes(t, filepath.Join(cwd, "a.txt")); text == "new" {
		t.Error("a write that was refused was done")
	}
	run(t, acpx(t.Context(), "--approve-all", "exec", "WRITE"), false)
	if text := notes(t, filepath.Join(cwd, "a.txt")); text != "new" {
		t.Errorf("a write that was allowed left %q", text)
	}
	run(t, acpx(t.Context(), "--model", "stub-2", "exec", "good day"), false)
	if asked := model.Requests(); asked[len(asked)-1].Model != "stub-2" {
		t.Errorf("the model that was chosen is %s", asked[len(asked)-1].Model)
	}

	// A session that is kept: begun in one process of the agent, gone on with in another, cancelled in a third.
	run(t, acpx(t.Context(), "sessions", "new"), false)
	run(t, acpx(t.Context(), "prompt", "good day"), false)
	if out := run(t, acpx(t.Context(), "--approve-all", "prompt", "READ"), false); !strings.Contains(out, "it said") {
		t.Errorf("the session does not go on: %q", out)
	}
	waiting := acpx(t.Context(), "prompt", "HOLD")
	if err := waiting.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the prompt that is to be cancelled", func() bool { return len(model.Answered("HOLD")) > 0 })
	run(t, acpx(t.Context(), "cancel"), false)
	if err := waiting.Wait(); err != nil && waiting.ProcessState.ExitCode() != interrupted {
		t.Errorf("the cancelled prompt: %v", err)
	}
	run(t, acpx(t.Context(), "set-mode", "plan"), false)
	run(t, acpx(t.Context(), "sessions", "close"), false)
	until(t, "the end of every process", func() bool { return !lives("FAMILIAR_ROOT=" + sessions) })
}

// interrupted is how acpx ends when its prompt was cancelled.
const interrupted = 130

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not in %s", what, patience)
		}
	}
}

// lives reports whether a process has that variable.
func lives(variable string) bool {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	return slices.ContainsFunc(all, func(file string) bool {
		text, _ := os.ReadFile(file) // one that has ended holds nothing
		return slices.Contains(strings.Split(string(text), "\x00"), variable)
	})
}
