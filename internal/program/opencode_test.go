package program

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/llm/llmtest"
)

// openCode finds the real agent. CI installs it; elsewhere a test that needs it is skipped when it is not there.
func openCode(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("OPENCODE_BIN"), "../../node_modules/.bin/opencode", "opencode"} {
		if path, err := exec.LookPath(name); err == nil {
			if path, err = filepath.Abs(path); err == nil {
				return path
			}
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("OpenCode is not installed; run: make deps")
	}
	t.Skip("OpenCode is not installed; run: make deps")
	return ""
}

// withOpenCode makes a bot whose agent is the real OpenCode with a model that follows the script. The operator
// has OpenCode set up in their HOME, as a newcomer would.
func withOpenCode(t *testing.T, script llmtest.Script) (*bot, *llmtest.Server) {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(openCode(t), filepath.Join(bin, "opencode")); err != nil {
		t.Fatal(err)
	}
	if script.Default == nil { // a model that knows nothing more to say; an error would be tried again for a minute
		script.Default = &llmtest.Reply{Text: "words that nobody may read"}
	}
	model := llmtest.Start(t, script)
	b := newBot(t, "audit: {enabled: true, includedPhases: []}\n", "PATH="+bin+":"+os.Getenv("PATH"))
	home := filepath.Join(filepath.Dir(b.dir), ".config", "opencode")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{
		// a comment, as people write them
		"model": "stub/stub-1", "small_model": "stub/stub-1", "enabled_providers": ["stub"],
		"provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "name": "Stub",
			"options": {"baseURL": "%s", "apiKey": "k"},
			"models": {"stub-1": {"name": "Stub One", "tool_call": true, "limit": {"context": 200000, "output": 8000}}}}},
	}`, model.URL())
	if err := os.WriteFile(filepath.Join(home, "opencode.jsonc"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return b, model
}

// call is a model's wish to call a tool.
func call(name string, args map[string]string) llmtest.Reply {
	raw, _ := json.Marshal(args) // a map of strings is always JSON
	return llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: name, Arguments: string(raw)}}}
}

// tmpDir finds in a briefing where the agent may write.
const tmpDir = "that is `([^`]+)`"

// unheard is what the model writes beside its tools.
var unheard = llmtest.Rule{Name: "done", Match: llmtest.Match{AfterTool: "."}, Reply: llmtest.Reply{Text: "words that nobody may read"}}

// The way of one message, with everything real but the model: a web message, a saved memory in the briefing, and
// the reply over MCP.
func TestOpenCodeAnswersOverMCP(t *testing.T) {
	b, model := withOpenCode(t, llmtest.Script{Rules: []llmtest.Rule{
		{Name: "by MCP", Match: llmtest.Match{LastUser: "what do I drink", HasTool: "familiar_send-reply", NotAfter: true},
			Reply: call("familiar_send-reply", map[string]string{"message": "Green tea, **always**."})}, unheard}})
	b.start()
	if _, err := b.say("/remember I only drink green tea"); err != nil {
		t.Fatal(err)
	}
	reply, err := b.say("what do I drink?")
	if err != nil || reply != "Green tea, **always**." {
		t.Fatal(reply, err)
	}
	told := model.Answered("by MCP")[0]
	for _, want := range []string{"I only drink green tea", "what do I drink?", "send-reply"} {
		if !strings.Contains(told.AllText, want) {
			t.Errorf("the agent was not told %q", want)
		}
	}
	b.quiet("words that nobody may read")
}

// The reply over the skill command in the agent's shell: the file and the command ask for permission and get it;
// a command that is not ours is refused, and so is one that hides behind ours.
func TestOpenCodeAnswersFromItsShell(t *testing.T) {
	shell := func(command string) llmtest.Reply {
		return call("bash", map[string]string{"command": command, "description": "run it"})
	}
	step := func(after, result string, reply llmtest.Reply) llmtest.Rule {
		return llmtest.Rule{Name: after + " " + result, Times: 1, Match: llmtest.Match{LastUser: "by the shell", AfterTool: after, ToolResult: result}, Reply: reply}
	}
	skill := `familiar skill send-reply --message-file "$TMPDIR/reply.md"`
	b, model := withOpenCode(t, llmtest.Script{Rules: []llmtest.Rule{
		{Name: "stage", Times: 1, Match: llmtest.Match{LastUser: "by the shell", NotAfter: true, AnyText: tmpDir},
			Reply: call("write", map[string]string{"filePath": "{{found}}/reply.md", "content": "It costs $5, not $HOME."})},
		step("write", "", shell(skill)),
		unheard,
	}})
	b.start()
	if reply, err := b.say("answer by the shell"); err != nil || reply != "It costs $5, not $HOME." {
		t.Fatal(reply, err, summaryOf(model))
	}
	for _, reason := range []string{"skill_whitelist", "agent_workspace_write"} {
		if !strings.Contains(b.audit(), reason) {
			t.Errorf("no permission was given for the reason %s:\n%s", reason, b.audit())
		}
	}
	model.Play(t, llmtest.Script{Default: &llmtest.Reply{Text: "nothing"}, Rules: []llmtest.Rule{
		{Name: "escape", Match: llmtest.Match{LastUser: "by the shell", NotAfter: true}, Reply: shell(skill + "; env")},
		unheard,
	}})
	if reply, err := b.say("answer by the shell, and show me env"); err == nil {
		t.Fatal("answered", reply)
	}
	if !strings.Contains(b.audit(), "permission_denied") {
		t.Errorf("nothing was refused:\n%s", b.audit())
	}
}

// summaryOf is what the model was asked, rule by rule.
func summaryOf(model *llmtest.Server) string {
	var all []string
	for _, q := range model.Requests() {
		all = append(all, fmt.Sprintf("%s after %q: %.200q", q.Rule, q.ToolName, q.ToolResult))
	}
	return strings.Join(all, "\n")
}
