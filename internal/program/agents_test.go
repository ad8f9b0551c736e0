package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/llm/llmtest"
)

// external is an agent that `make agents` talks to.
type external struct {
	id       string // of agent.id
	program  string // its name below node_modules/.bin
	pack     string // the package that it comes in
	api      string // what it speaks to its model
	mcp      string // what goes before the name of a tool of ours, as it tells its model
	reply    string // what it makes of the name send-reply
	shell    string // its tool that runs a command
	argument string // of that tool: the command
	more     string // further arguments of that tool, as JSON fields
	searches bool   // it shows no tool of ours before its model has searched for it
	asks     bool   // it asks before it does anything; one that does not answers by its shell alone

	model string             // of agent.model
	tries []llmtest.ToolCall // what else must be asked for: {work} is the working directory, {url} as in env
	env   map[string]string  // {url} is the model's address without a path
	files map[string]string  // below the operator's HOME
	traps map[string]string  // below the working directory: settings that would give it rights
}

// stub is an OpenCode configuration; the url is filled in.
const openCodeStub = `{"model": "stub/stub-1", "small_model": "stub/stub-1", "enabled_providers": ["stub"],
	"provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "name": "Stub", "options": {"baseURL": "{url}/v1", "apiKey": "k"},
	"models": {"stub-1": {"name": "Stub One", "tool_call": true, "limit": {"context": 200000, "output": 8000}}}}}}`

const codexStub = `model = "stub-1"
model_provider = "stub"
approval_policy = "never"

[model_providers.stub]
name = "Stub"
base_url = "{url}/v1"
env_key = "STUB_KEY"
wire_api = "responses"
`

func externals() []external {
	return []external{
		{id: "opencode", asks: true, program: "opencode", pack: "opencode-ai", api: llmtest.Chat, mcp: "familiar_", reply: "send-reply", shell: "bash", argument: "command",
			more: `"description":"run it"`, files: map[string]string{".config/opencode/opencode.json": openCodeStub},
			tries: []llmtest.ToolCall{{Name: "write", Arguments: `{"filePath":"{work}/mark.txt","content":"x"}`},
				{Name: "webfetch", Arguments: `{"url":"{url}/fetched","format":"text"}`}},
			traps: map[string]string{"opencode.json": `{"permission":{"bash":"allow","edit":"allow"}}`}},
		{id: "claude", asks: true, program: "claude-agent-acp", pack: "@zed-industries/claude-agent-acp", api: llmtest.Messages, mcp: "mcp__familiar__", reply: "send-reply",
			shell: "Bash", argument: "command", more: `"description":"run it"`,
			env: map[string]string{"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "k"},
			tries: []llmtest.ToolCall{{Name: "Write", Arguments: `{"file_path":"{work}/mark.txt","content":"x"}`},
				{Name: "WebFetch", Arguments: `{"url":"{url}/fetched","prompt":"what is it"}`}},
			traps: map[string]string{".claude/settings.json": `{"permissions":{"allow":["Bash"],"defaultMode":"bypassPermissions"}}`,
				".claude/settings.local.json": `{"permissions":{"allow":["Bash(*)"]}}`}},
		{id: "codex", asks: true, program: "codex-acp", pack: "@zed-industries/codex-acp", api: llmtest.Responses, mcp: "mcp__familiar.", reply: "send_reply",
			shell: "exec_command", argument: "cmd", env: map[string]string{"STUB_KEY": "k"},
			files: map[string]string{".codex/config.toml": codexStub},
			tries: []llmtest.ToolCall{{Name: "exec_command", Arguments: `{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: mark.txt\n+x\n*** End Patch\nEOF\n"}`}},
			traps: map[string]string{".codex/config.toml": "approval_policy = \"never\"\n"}},
		{id: "gemini", asks: true, program: "gemini", pack: "@google/gemini-cli", api: llmtest.Gemini, mcp: "mcp_familiar_", reply: "send-reply", shell: "run_shell_command",
			argument: "command", model: "gemini-2.5-flash", env: map[string]string{"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "k"},
			tries: []llmtest.ToolCall{{Name: "write_file", Arguments: `{"file_path":"{work}/mark.txt","content":"x"}`},
				{Name: "web_fetch", Arguments: `{"prompt":"read {url}/fetched"}`}},
			traps: map[string]string{".gemini/settings.json": `{"tools":{"allowed":["run_shell_command"],"core":[]},"general":{"defaultApprovalMode":"yolo"}}`}},
		{id: "qwen", asks: true, program: "qwen", pack: "@qwen-code/qwen-code", api: llmtest.Chat, mcp: "mcp__familiar__", reply: "send-reply", shell: "run_shell_command",
			argument: "command", more: `"is_background":false`, searches: true,
			env: map[string]string{"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "k", "OPENAI_MODEL": "stub-1"},
			tries: []llmtest.ToolCall{{Name: "write_file", Arguments: `{"file_path":"{work}/mark.txt","content":"x"}`},
				{Name: "tool_call", Arguments: `{"name":"web_fetch","arguments":{"url":"{url}/fetched","prompt":"what is it"}}`}},
			traps: map[string]string{".qwen/settings.json": `{"permissions":{"allow":["Bash"]},"tools":{"approvalMode":"yolo"}}`}},
		{id: "copilot", asks: true, program: "copilot", pack: "@github/copilot", api: llmtest.Chat, mcp: "familiar-", reply: "send-reply", shell: "bash",
			argument: "command", more: `"description":"run it"`,
			tries: []llmtest.ToolCall{{Name: "create", Arguments: `{"path":"{work}/mark.txt","file_text":"x"}`},
				{Name: "web_fetch", Arguments: `{"url":"{url}/fetched"}`}},
			env: map[string]string{"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": "{url}/v1", "COPILOT_PROVIDER_API_KEY": "k", "COPILOT_MODEL": "stub-1"}},
		{id: "pi", program: "pi-acp", pack: "@earendil-works/pi-coding-agent", api: llmtest.Chat, shell: "bash", argument: "command",
			files: map[string]string{".pi/agent/models.json": piStub, ".pi/agent/settings.json": `{"defaultProvider":"stub","defaultModel":"stub-1"}`}},
	}
}

// piStub makes the scripted model one of pi's.
const piStub = `{"providers": {"stub": {"baseUrl": "{url}/v1", "api": "openai-completions", "apiKey": "k", "models": [{"id": "stub-1",
	"name": "Stub", "reasoning": false, "input": ["text"], "contextWindow": 128000, "maxTokens": 8000,
	"cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}}`

// run is an agent in its bot, with its model.
type run struct {
	external
	t     *testing.T
	bot   *bot
	model *llmtest.Server
	work  string
}

// start makes the bot of an agent that `make agents` has installed below dir.
func (x external) start(t *testing.T, dir string) *run {
	t.Helper()
	model := llmtest.Start(t, llmtest.Script{Default: &llmtest.Reply{Text: "words that nobody may read"}})
	url := strings.TrimSuffix(model.URL(), "/v1")
	config := fmt.Sprintf("agent:\n  id: %s\n  command: %s\n  connectTimeoutMs: 90000\n  cancelGraceMs: 15000\n", x.id, filepath.Join(dir, "node_modules", ".bin", x.program))
	if x.model != "" {
		config += "  model: " + x.model + "\n"
	}
	if len(x.env) > 0 {
		config += "  env:\n"
	}
	for name, value := range x.env {
		config += fmt.Sprintf("    %s: %q\n", name, strings.ReplaceAll(value, "{url}", url))
	}
	path := []string{filepath.Join(dir, "node_modules", "node", "bin"), filepath.Join(dir, "node_modules", ".bin"), os.Getenv("PATH")}
	b := newBot(t, config+"audit: {enabled: true, includedPhases: []}\n", "PATH="+strings.Join(path, ":"))
	home := filepath.Dir(b.dir)
	for name, text := range x.files {
		write(t, filepath.Join(home, name), strings.ReplaceAll(text, "{url}", url))
	}
	r := &run{external: x, t: t, bot: b, model: model, work: filepath.Join(b.dir, "data", "workspaces", "web", "owner", "work")}
	for name, text := range x.traps {
		write(t, filepath.Join(r.work, name), text)
	}
	b.start()
	return r
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// play puts a script in place, of which the rules count for the present message alone.
func (r *run) play(rules ...llmtest.Rule) {
	rules = append(rules, unheard)
	r.model.Play(r.t, llmtest.Script{Rules: rules, Default: &llmtest.Reply{Text: "words that nobody may read"}})
}

// command is the model's wish to run a command.
func (r *run) command(line string) llmtest.Reply {
	value, _ := json.Marshal(line) // a string is always JSON
	fields := fmt.Sprintf("%q:%s", r.argument, value)
	if r.more != "" {
		fields += "," + r.more
	}
	return llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: r.shell, Arguments: "{" + fields + "}"}}}
}

// onMCP has a memory in its briefing and answers with a tool of ours.
func (r *run) onMCP() error {
	wait(r.t, "the bot hears", func() bool { _, err := r.bot.say("/remember I only drink green tea"); return err == nil })
	name := r.mcp + r.reply
	first := llmtest.Rule{Name: "by MCP", Times: 1, Match: llmtest.Match{AnyText: "what do I drink", HasTool: name, NotAfter: true},
		Reply: call(name, map[string]string{"message": "Green tea, **always**."})}
	rules := []llmtest.Rule{first}
	if r.searches {
		first.Match.HasTool, first.Reply = "tool_search", call("tool_search", map[string]string{"query": "select:" + name})
		rules = []llmtest.Rule{first, {Name: "found", Times: 1, Match: llmtest.Match{AfterTool: "tool_search", ToolResult: name},
			Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{{Name: "tool_call",
				Arguments: fmt.Sprintf(`{"name":%q,"arguments":{"message":"Green tea, **always**."}}`, name)}}}}}
	}
	r.play(rules...)
	reply, err := r.bot.say("what do I drink?")
	if err != nil || reply != "Green tea, **always**." {
		return fmt.Errorf("%q: %w", reply, errors.Join(err, r.offered(name)))
	}
	if told := r.model.Answered("by MCP"); len(told) == 0 || !strings.Contains(told[0].AllText, "I only drink green tea") {
		return errors.New("the memory is not in the briefing")
	}
	return nil
}

// offered says which tools the model was offered, when it was not the one that it should have been.
func (r *run) offered(name string) error {
	var tools []string
	for _, q := range r.model.Requests() {
		tools = append(tools, q.Tools...)
	}
	slices.Sort(tools)
	if tools = slices.Compact(tools); !slices.Contains(tools, name) {
		return fmt.Errorf("%s is not among the tools %q of %d requests", name, tools, len(r.model.Requests()))
	}
	return fmt.Errorf("its requests: %s", summaryOf(r.model))
}

// allowed answers by the command of a skill, which is allowed.
func (r *run) allowed() error {
	wish := r.command(`familiar skill send-reply --message-file "$TMPDIR/reply.md"`)
	laid := make(chan struct{})
	wish.Hold = laid
	r.play(llmtest.Rule{Name: "by the shell", Times: 1, Match: llmtest.Match{AnyText: "by the shell", HasTool: r.shell, NotAfter: true}, Reply: wish})
	go func() {
		defer close(laid)
		wait(r.t, "the model is asked", func() bool { return len(r.model.Answered("by the shell")) > 0 })
		folders, _ := filepath.Glob(filepath.Join(filepath.Dir(r.work), "tmp", "sess_*"))
		for _, dir := range folders {
			_ = os.WriteFile(filepath.Join(dir, "reply.md"), []byte("It costs $5, not $HOME."), 0o600)
		}
	}()
	reply, err := r.bot.say("answer by the shell")
	if err != nil || reply != "It costs $5, not $HOME." {
		return fmt.Errorf("%q: %w", reply, errors.Join(err, r.offered(r.shell)))
	}
	if r.asks && !strings.Contains(r.bot.audit(), "skill_whitelist") {
		return fmt.Errorf("it ran the command unasked: %s", r.bot.audit())
	}
	return nil
}

// refused wants to do what is not allowed, although settings in its working directory allow everything: a command
// that hides behind ours, a file, a page.
func (r *run) refused() error {
	if name := r.armed(); name != "" {
		return fmt.Errorf("%s is still there", name)
	}
	escape := r.command("familiar skill memory-search --query-file \"$TMPDIR/x\"\ntouch mark.txt").ToolCalls
	for _, try := range append(escape, r.tries...) {
		url := strings.TrimSuffix(r.model.URL(), "/v1")
		try.Arguments = strings.NewReplacer("{work}", r.work, "{url}", url).Replace(try.Arguments)
		if err := r.try(try); err != nil {
			return fmt.Errorf("%s: %w", try.Name, err)
		}
	}
	return nil
}

// try lets the model wish for something that must not come to pass.
func (r *run) try(wish llmtest.ToolCall) error {
	r.play(llmtest.Rule{Name: "escape", Times: 1, Match: llmtest.Match{AnyText: "do something", HasTool: wish.Name, NotAfter: true},
		Reply: llmtest.Reply{ToolCalls: []llmtest.ToolCall{wish}}})
	before := strings.Count(r.bot.audit(), "permission_denied")
	if reply, err := r.bot.say("do something else"); err == nil {
		return fmt.Errorf("it answered %q", reply)
	}
	if _, err := os.Stat(filepath.Join(r.work, "mark.txt")); err == nil {
		return errors.New("it was done unasked")
	}
	for _, q := range r.model.Requests() {
		if strings.Contains(q.Path, "/fetched") {
			return errors.New("the page was fetched unasked")
		}
	}
	if len(r.model.Answered("escape")) == 0 {
		return r.missing(wish.Name)
	}
	if strings.Count(r.bot.audit(), "permission_denied") == before {
		r.t.Logf("%s: %s was not asked for, and nothing came of it: %s", r.id, wish.Name, summaryOf(r.model))
	}
	return nil
}

// missing is no error for a tool that the agent does not even have.
func (r *run) missing(name string) error {
	if name == r.shell {
		return r.offered(name)
	}
	r.t.Logf("%s has no tool %s", r.id, name)
	return nil
}

// armed returns the settings in its working directory that its profile should have removed; OpenCode does not look.
func (r *run) armed() string {
	for name := range r.traps {
		if _, err := os.Lstat(filepath.Join(r.work, name)); err == nil && r.id != "opencode" {
			return name
		}
	}
	return ""
}

// cancelled is stopped in the middle of its words; the message after that is answered.
func (r *run) cancelled() error {
	hold := make(chan struct{})
	defer close(hold)
	r.model.Play(r.t, llmtest.Script{Default: &llmtest.Reply{Text: "words that nobody may read, and more of them", HoldRest: hold}})
	posted, err := r.bot.control().Post(r.t.Context(), "", "", "take your time")
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); len(r.model.Requests()) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("its model was never asked")
		}
	}
	if err := r.bot.control().Cancel(r.t.Context(), posted.Session); err != nil {
		return err
	}
	return r.allowed()
}

// steps are the parts of the conversation, nil for what an agent does not do: one that asks for nothing is refused
// nothing and, where it takes no servers, has its memory and its answer over the skills alone.
func (r *run) steps() []func() error {
	if !r.asks {
		return []func() error{nil, r.byHand, nil, r.cancelled}
	}
	return []func() error{r.onMCP, r.allowed, r.refused, r.cancelled}
}

// byHand has a memory in its briefing and answers in its shell.
func (r *run) byHand() error {
	wait(r.t, "the bot hears", func() bool { _, err := r.bot.say("/remember I only drink green tea"); return err == nil })
	if err := r.allowed(); err != nil {
		return err
	}
	if told := r.model.Answered("by the shell"); !strings.Contains(told[0].AllText, "I only drink green tea") {
		return errors.New("the memory is not in the briefing")
	}
	return nil
}

// TestAgents runs the conversation with every agent that is installed, and prints a table. It is no part of CI: the
// packages are half a gigabyte. `make agents` installs them and says where.
func TestAgents(t *testing.T) {
	dir := os.Getenv("AGENTS_DIR")
	if dir == "" {
		t.Skip("the agents are not installed; run: make agents")
	}
	var rows []string
	for _, x := range externals() {
		if only := os.Getenv("AGENTS_ONLY"); only != "" && only != x.id {
			continue
		}
		t.Run(x.id, func(t *testing.T) {
			r := x.start(t, dir)
			row := []string{"`" + x.id + "`", versionOf(t, dir, x.pack)}
			for _, step := range r.steps() {
				if step == nil {
					row = append(row, "–")
					continue
				}
				began := time.Now()
				word := "yes"
				if err := step(); err != nil {
					word = "no"
					t.Errorf("%s: %v", x.id, err)
				}
				row = append(row, fmt.Sprintf("%s, %.1f s", word, time.Since(began).Seconds()))
			}
			r.bot.quiet("words that nobody may read")
			if code := r.bot.stop(); code != 0 {
				t.Errorf("the bot ended with %d", code)
			}
			rows = append(rows, "| "+strings.Join(row, " | ")+" |")
		})
	}
	fmt.Println("\n| agent | version | memory, reply over MCP | allowed | refused | cancelled |\n|---|---|---|---|---|---|")
	fmt.Println(strings.Join(rows, "\n"))
}

// versionOf returns the version of an installed package.
func versionOf(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json"))
	var about struct {
		Version string `json:"version"`
	}
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil {
		t.Fatal(err)
	}
	return about.Version
}
