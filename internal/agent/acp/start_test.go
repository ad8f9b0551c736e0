package acp

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/acp/profile"
	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/secret"
	"familiar/internal/setting"
	"familiar/internal/tool"
)

// An agent that does not start says why, once: the command, its last words without secrets.
func TestFailedStart(t *testing.T) {
	cfg := quick()
	cfg.ConnectTimeoutMs = 1500
	var vault secret.Vault
	vault.Know(secret.New("very-secret-key"))
	a := scripted(t, cfg, script.Script{Moods: script.Moods{Silent: "initialize", Stderr: "no model for very-secret-key"}},
		func(d *Deps) { d.Vault = &vault })
	_, err := a.Open(t.Context(), opening("ann"))
	if !errors.Is(err, errConnect) || !errors.Is(err, ErrStart) {
		t.Fatalf("opened with %v", err)
	}
	for _, want := range []string{a.profile.Command, "no model for " + secret.Masked} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if a.Living() != 0 {
		t.Error("it lives")
	}
}

func TestMissingExecutable(t *testing.T) {
	cfg := quick()
	cfg.Command = filepath.Join(t.TempDir(), "nobody")
	if _, err := New(cfg, Custom(cfg), Deps{Log: quiet()}); err == nil || !strings.Contains(err.Error(), cfg.Command) {
		t.Errorf("made with %v", err)
	}
}

// While as many run as may, a session waits for its turn, and gives up when its context ends.
func TestSlots(t *testing.T) {
	cfg := quick()
	cfg.MaxProcesses = 1
	a := scripted(t, cfg, script.Script{}, nil)
	first := open(t, a, opening("ann"))
	ctx, cancel := context.WithCancelCause(t.Context())
	opened := make(chan error)
	go func() { _, err := a.Open(ctx, opening("bob")); opened <- err }()
	cancel(chat.ErrStopped)
	if err := <-opened; !errors.Is(err, chat.ErrStopped) {
		t.Errorf("waited, and ended with %v", err)
	}
	go func() { s, err := a.Open(t.Context(), opening("bob")); _ = s; opened <- err }()
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
	go func() { _, err := a.Open(t.Context(), opening("cid")); opened <- err }()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := <-opened; err == nil {
		t.Error("a session was opened while the agent was leaving")
	}
}

// Nothing that was said is in the log, whatever the level, and nothing that an agent writes beside the protocol.
func TestLogsHoldNoWords(t *testing.T) {
	var log records
	a := scripted(t, quick(), script.Script{
		Moods: script.Moods{Stderr: "WORDS on stderr", Noise: "WORDS glued ", New: []byte(`{"modes":null}`)},
		Turns: []script.Turn{{Steps: []script.Step{{Say: "WORDS said"}, {Think: "WORDS thought"}, {Raw: "WORDS raw"},
			raw(`{"sessionUpdate":"news","text":"WORDS"}`), {Raw: `{"jsonrpc":"2.0","id":5,"method":"x","params":"WORDS"}`},
			{Ask: &agent.Ask{Call: "c", Title: "WORDS title"}}, {Panic: "WORDS"}}}},
	}, func(d *Deps) { d.Log = log.logger() })
	s := open(t, a, opening("ann"))
	_, _ = prompt(t.Context(), s, &agenttest.Watch{}, "WORDS asked")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log.all(), "WORDS") || len(log.at(slog.LevelDebug)) == 0 {
		t.Errorf("logged:\n%s", log.all())
	}
}

// An agent that takes no images and no servers over HTTP is not given any.
func TestOnlyWhatIsAdvertised(t *testing.T) {
	var log records
	a := scripted(t, quick(), script.Script{NoImages: true,
		Moods: script.Moods{Init: []byte(`{"protocolVersion":1}`)}, Turns: []script.Turn{{Steps: []script.Step{{Heard: true}}}}},
		func(d *Deps) {
			d.Log = log.logger()
			d.Door = func(tool.Caller) (tool.Door, error) {
				return tool.Door{MCPURL: "http://127.0.0.1:1/mcp", Token: "t"}, nil
			}
		})
	o := opening("ann")
	o.Tools = tool.NewBox(nil).Seat(o.Workspace.Session, nil, func(string) {})
	s := open(t, a, o)
	if _, err := s.Prompt(t.Context(), turnOf("ann"), []agent.Block{agent.Image{MIME: "image/png"}}, &agenttest.Watch{}); err == nil || s.Can().Image {
		t.Error("it was given an image")
	}
	if heard := ask(t, s, "go").Said(); !strings.Contains(heard, `"mcpServers":[]`) {
		t.Errorf("it heard %s", heard)
	}
	if !strings.Contains(strings.Join(log.at(slog.LevelWarn), ""), "server=familiar") {
		t.Error("no word about the server that was left out")
	}
}

// AF-97: who gets which keys, and what filterEnv off means.
func TestKeys(t *testing.T) {
	cfg := Defaults()
	cfg.GeminiAPIKey, cfg.GitHubToken = secret.New("gem"), secret.New("hub")
	cfg.Env = map[string]string{"LANG": "zh_TW.UTF-8", "HOME": "/elsewhere"}
	s := surroundings{parent: []string{"PATH=/bin", "FOO=foo", "LANG=C", "broken"}, self: "/opt/familiar/familiar", session: "sess_1"}
	s.paths.Home = "/private"
	has := func(env []string, pair string) bool { return slices.Contains(env, pair) }
	env := environment(cfg, profile.Profile{Env: map[string]string{"X": "{home}/x"}}, s)
	for _, want := range []string{"GEMINI_API_KEY=gem", "GOOGLE_GENERATIVE_AI_API_KEY=gem", "LANG=zh_TW.UTF-8",
		"HOME=/private", "PATH=/opt/familiar:/bin", "X=/private/x", "SESSION_ID=sess_1"} {
		if !has(env, want) {
			t.Errorf("%s is not in %q", want, env)
		}
	}
	if has(env, "GITHUB_TOKEN=hub") || has(env, "FOO=foo") {
		t.Errorf("too much: %q", env)
	}
	cfg.Sandbox.FilterEnv = false
	if env := environment(cfg, profile.Profile{Oddities: profile.Oddities{GitHub: true}}, s); !has(env, "GITHUB_TOKEN=hub") || !has(env, "FOO=foo") {
		t.Errorf("too little: %q", env)
	}
}

func TestConfigCheck(t *testing.T) {
	cfg := Defaults()
	cfg.MaxProcesses = 0
	cfg.Sandbox.AllowedWriteExtensions = []string{".md", "txt", "."}
	cfg.MCPServers = []MCPServer{{Name: "a", Transport: "stdio", Command: "x"}, {Name: "a", Transport: "stdio", Command: "x"},
		{Name: "b", Transport: "http"}, {Name: "c", Transport: "pigeon"}, {Transport: "stdio", Command: "x"},
		{Name: "familiar", Transport: "stdio", Command: "x"}, {Name: "d", Transport: "sse", URL: "http://x"}}
	var r setting.Report
	cfg.Check(&r)
	for _, p := range r.Problems() {
		if p.Severity == setting.Fatal {
			t.Errorf("fatal: %+v", p)
		}
	}
	if len(r.Problems()) != 8 || cfg.MaxProcesses != 1 || len(cfg.MCPServers) != 2 || !slices.Equal(cfg.Sandbox.AllowedWriteExtensions, []string{".md"}) {
		t.Errorf("%d problems, left: %+v", len(r.Problems()), cfg)
	}
	for _, c := range []struct{ kind, id, command string }{{"robot", "", ""}, {"acp", "", ""}, {"auto", "unknown", ""}} {
		cfg, r := Defaults(), setting.Report{}
		cfg.Kind, cfg.ID, cfg.Command = c.kind, c.id, c.command
		if cfg.Check(&r); len(r.Problems()) == 0 || r.Problems()[0].Severity != setting.Fatal {
			t.Errorf("%+v is accepted: %v", c, r.Problems())
		}
	}
}

// A login stays the operator's: the agent gets a link, and what it may read is named to the walls.
func TestFurnish(t *testing.T) {
	home, operator, skills := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(operator, "login.json"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := profile.Profile{Files: map[string][]byte{"a/b.json": []byte("{}")}, Logins: []string{"login.json", "missing.json"}, Skills: profile.Skills}
	readable, err := furnish(p, home, operator, skills)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(readable)
	want := slices.Sorted(slices.Values([]string{filepath.Join(operator, "login.json"), skills}))
	if !slices.Equal(readable, want) {
		t.Errorf("readable: %q, want %q", readable, want)
	}
	for name, text := range map[string]string{"a/b.json": "{}", "login.json": "x"} {
		if got, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// What lies beside an executable is readable, unless it is a HOME or holds our data.
func TestPrograms(t *testing.T) {
	top := t.TempDir()
	home, data, opt := filepath.Join(top, "home"), filepath.Join(top, "home", ".familiar", "data"), filepath.Join(top, "opt")
	for _, dir := range []string{data, opt} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{
		filepath.Join(opt, "agent"):                       true,
		filepath.Join(home, "bin", "agent"):               true,
		filepath.Join(home, "agent"):                      false,
		filepath.Join(home, ".familiar", "agent"):         false,
		filepath.Join(home, ".familiar", "data", "agent"): false,
		filepath.Join(top, "agent"):                       false,
	} {
		l := launcher{agent: &Agent{deps: Deps{Home: home}}, path: path, self: "/self"}
		if got := slices.Contains(l.programs(data), filepath.Dir(path)); got != want {
			t.Errorf("%s: what lies beside it is readable: %t, want %t", path, got, want)
		}
	}
}

// An agent that answers the prompt after a cancelled one with nothing is prompted once more, and only once.
func TestRetryEmpty(t *testing.T) {
	a, made := faked(t, quick(), quiet())
	a.profile.RetryEmpty = true
	s, f := openFake(t, a, made, "")
	defer s.Close()
	prompts := 0
	go func() {
		var first message
		for m := f.next(); m.Method != ""; m = f.next() {
			if m.Method == "session/cancel" {
				f.answer(first, `{"stopReason":"cancelled"}`)
				continue
			}
			if prompts++; prompts == 1 {
				first = m
				f.chunk("waiting")
				continue
			}
			f.answer(m, `{"stopReason":"end_turn"}`)
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := prompt(ctx, s, &agenttest.Watch{Each: func(agent.Update) { cancel() }}, "one"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for _, want := range []int{3, 4} {
		if _, err := prompt(t.Context(), s, &agenttest.Watch{}, "next"); err != nil || prompts != want {
			t.Errorf("%d prompts were sent, want %d; error %v", prompts, want, err)
		}
	}
}
