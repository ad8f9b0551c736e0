package host

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent/script"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/doctor"
	"familiar/internal/instance"
	"familiar/internal/llm/llmtest"
	"familiar/internal/secret"
)

// patient is the bot of a directory, with a model of its own that a stub serves.
func patient(t *testing.T, dir string, set func(*config.Config)) Patient {
	t.Helper()
	inst, err := instance.Find(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(config.Where{Dir: inst.Dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := llmtest.Start(t, llmtest.Script{})
	c := &loaded.Config
	c.Server.Port, c.SkillAPI.Port = 0, 0
	c.Agent.Kind, c.LLM.Provider, c.LLM.BaseURL, c.LLM.APIKey = "builtin", "openai", s.URL(), secret.New("canary-key-1234567890")
	if set != nil {
		set(c)
	}
	vault := &secret.Vault{}
	vault.Know(c.LLM.APIKey)
	return Patient{Instance: inst, Loaded: loaded, Vault: vault}
}

// found returns the lines of one check.
func found(r doctor.Report, check string) (lines []doctor.Line) {
	for _, l := range r.Lines {
		if l.Check == check {
			lines = append(lines, l)
		}
	}
	return lines
}

func failed(r doctor.Report) (lines []doctor.Line) {
	for _, l := range r.Lines {
		if l.Status == doctor.Fail {
			lines = append(lines, l)
		}
	}
	return lines
}

// tree is everything in a directory: names, modes, times and what is in the files. What SQLite keeps in memory that is
// shared between its readers is not looked at.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "-shm") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var text []byte
		if info.Mode().IsRegular() {
			if text, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintln(&all, path, info.Mode(), info.ModTime(), sha256.Sum256(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// A bot that runs and one that was stopped are looked at alike, and nothing about them changes.
func TestTheDoctorChangesNothing(t *testing.T) {
	d, hold := dir(t), make(chan struct{})
	r := live(t, d, nil, script.Turn{Steps: []script.Step{{Until: hold}, use("memory-save", map[string]string{"content": "likes tea"}),
		use("send-reply", map[string]string{"message": "hi"})}})
	r.hears(event("dm1", "ann", "a letter of mine"), chat.Accepted)
	r.until("the agent thinks", func() bool { return r.agent.prompt(0) != "" })
	p := patient(t, d, nil)
	lock, err := p.Instance.Lock() // the rig runs a bot without one
	if err != nil {
		t.Fatal(err)
	}
	look := func(running bool, waits string) {
		t.Helper()
		before := tree(t, d)
		report := Examine(t.Context(), p)
		if bad := failed(report); len(bad) > 0 || report.Running != running {
			t.Errorf("running %v, failed: %+v", report.Running, bad)
		}
		if got := found(report, "database"); len(got) < 3 || got[1].Say != waits {
			t.Errorf("the database: %+v", got)
		}
		if text := fmt.Sprint(report); strings.Contains(text, "canary") || strings.Contains(text, token()) {
			t.Errorf("a secret is told: %s", text)
		}
		if after := tree(t, d); after != before {
			t.Errorf("something changed\nbefore\n%s\nafter\n%s", before, after)
		}
	}
	if held, err := p.Instance.Running(); err != nil || held.PID != os.Getpid() {
		t.Fatal(held, err)
	}
	look(true, "events that wait to be finished: 1")
	close(hold)
	r.says("dm1: hi")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	look(false, "events that wait to be finished: 0")
}

func TestTheDoctorFindsWhatIsWrong(t *testing.T) {
	empty := func(t *testing.T) string {
		d := dir(t)
		if err := os.MkdirAll(filepath.Join(d, "state"), 0o700); err != nil {
			t.Fatal(err)
		}
		return d
	}
	file := func(t *testing.T, path, text string, mode fs.FileMode) {
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, d string)
		set   func(*config.Config)
		check string
		want  doctor.Status
		say   string
	}{
		"a token that others can read": {func(t *testing.T, d string) { file(t, filepath.Join(d, "state", "token"), "x", 0o644) }, nil,
			"files", doctor.Fail, "0644"},
		"a database that is none": {func(t *testing.T, d string) {
			file(t, filepath.Join(d, "state", "familiar.db"), strings.Repeat("no database ", 1000), 0o600)
		}, nil, "database", doctor.Fail, "not a database"},
		"an address of other machines": {nil, func(c *config.Config) { c.Server.Host = "0.0.0.0" }, "listener", doctor.Warn, "0.0.0.0"},
		"a provider that is not there": {nil, func(c *config.Config) { c.LLM.BaseURL = "http://127.0.0.1:1" }, "agent", doctor.Fail, "127.0.0.1:1"},
		"an agent that is not there": {nil, func(c *config.Config) { c.Agent.Kind, c.Agent.Command = "acp", "/nowhere/agent" },
			"agent", doctor.Fail, "/nowhere/agent"},
		"an agent that is none": {nil, func(c *config.Config) {
			c.Agent.Kind, c.Agent.Command, c.Agent.ConnectTimeoutMs = "acp", "/bin/true", 2000
		}, "agent", doctor.Fail, "true"},
	} {
		t.Run(name, func(t *testing.T) {
			d := empty(t)
			if c.spoil != nil {
				c.spoil(t, d)
			}
			report := Examine(t.Context(), patient(t, d, c.set))
			for _, l := range found(report, c.check) {
				if l.Status == c.want && strings.Contains(l.Say, c.say) {
					if l.Next == "" {
						t.Errorf("no next step: %+v", l)
					}
					return
				}
			}
			t.Errorf("%s is not %s: %+v", c.check, c.want, report.Lines)
		})
	}
}

// BUG-L12: a folder that is mistyped is told by the doctor, with its place in the file; nothing else is tried then.
func TestTheDoctorTellsAMistypedPath(t *testing.T) {
	d := dir(t)
	if err := os.MkdirAll(d, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "version: 1\nworkspace:\n  repoPath: /no/such/place/data\n"
	if err := os.WriteFile(filepath.Join(d, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	inst, err := instance.Find(d, "")
	if err != nil {
		t.Fatal(err)
	}
	p := Patient{Instance: inst}
	p.Loaded, p.Fault = config.Load(config.Where{Dir: inst.Dir}, nil)
	report := Examine(context.Background(), p)
	got := found(report, "configuration")
	if len(got) != 1 || got[0].Status != doctor.Fail || !strings.Contains(got[0].Say, "/no/such/place does not exist") ||
		!strings.Contains(got[0].Say, "config.yaml:3") {
		t.Errorf("%+v", report.Lines)
	}
	if report.Healthy() || len(found(report, "agent")) > 0 {
		t.Errorf("%+v", report.Lines)
	}
}

// A model that the provider does not list is told together with those that it does.
func TestTheDoctorLooksForTheModel(t *testing.T) {
	list := []string{"qwen3:latest", "llama3.1:8b", "a", "b", "c", "d", "e"}
	for name, c := range map[string]struct{ provider, model, say, next string }{
		"listed":                 {"ollama", "llama3.1:8b", "Ollama answers and lists 7 models", ""},
		"an Ollama, without tag": {"ollama", "qwen3", "Ollama answers and lists 7 models", ""},
		"another, without tag": {"openai", "qwen3", "answers, and does not list the model qwen3",
			"see agent.model and llm.model; it lists qwen3:latest, llama3.1:8b, a, b, c and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Start(t, llmtest.Script{Models: list})
			p := patient(t, dir(t), func(cfg *config.Config) {
				cfg.LLM.Provider, cfg.LLM.BaseURL, cfg.LLM.Model = c.provider, s.URL(), c.model
			})
			if got := found(Examine(t.Context(), p), "agent"); len(got) != 1 || !strings.HasSuffix(got[0].Say, c.say) || got[0].Next != c.next {
				t.Errorf("told %+v", got)
			}
		})
	}
}
