package profile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every profile says how its agent is started, and every file of settings that is JSON is JSON. What counts as
// restricted has settings of its own, and removes what the agent may have left in its working directory.
func TestEveryProfile(t *testing.T) {
	for _, id := range IDs() {
		p, err := Build(id, Operator{})
		if err != nil {
			t.Fatal(err)
		}
		if p.ID != id || p.Name == "" || p.Command == "" || p.Restricted == (id == "kimi" || id == "pi") {
			t.Errorf("%s: %q, %q, %q, restricted %t", id, p.ID, p.Name, p.Command, p.Restricted)
		}
		for name, text := range p.Files {
			if filepath.Ext(name) == ".json" && !json.Valid(text) {
				t.Errorf("%s: %s is no JSON", id, name)
			}
		}
		if len(p.Meta) > 0 && !json.Valid(p.Meta) {
			t.Errorf("%s: the meta is no JSON", id)
		}
		for _, name := range append(append([]string{}, p.Rights...), p.Logins...) {
			if !filepath.IsLocal(name) {
				t.Errorf("%s: %s leads out", id, name)
			}
		}
	}
	if p, err := Build("nobody", Operator{}); err != nil || p.Command != "" {
		t.Errorf("an agent that nobody knows: %+v, %v", p, err)
	}
}

// Of the operator's own Codex the providers and the model count; what it may do, and which servers it has, do not.
func TestCodexOfTheOperator(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	own := "model = \"m1\"\napproval_policy = \"never\"\nmodel_provider = \"p\"\n[mcp_servers.x]\ncommand = \"evil\"\n" +
		"[model_providers.p]\nbase_url = \"http://127.0.0.1:1/v1\"\n[projects.\"/\"]\ntrust_level = \"trusted\"\n"
	if err := os.WriteFile(filepath.Join(home, ".codex", "config.toml"), []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]string{"": "model = \"m1\"", "m2": "model = \"m2\""} {
		p, err := Build("codex", Operator{Home: home, Model: model, Keys: []string{"OPENAI_API_KEY"}})
		if err != nil {
			t.Fatal(err)
		}
		config := string(p.Files[".codex/config.toml"])
		for _, must := range []string{want, "model_provider = \"p\"", "[model_providers.p]\nbase_url", "approval_policy = \"untrusted\""} {
			if !strings.Contains(config, must) {
				t.Errorf("%s is missing:\n%s", must, config)
			}
		}
		for _, never := range []string{"never", "evil", "trusted\"\n[", "mcp_servers", "projects"} {
			if strings.Contains(config, never) {
				t.Errorf("%s was taken over:\n%s", never, config)
			}
		}
		if strings.Count(config, "model = ") != 1 || p.SignIn != "" {
			t.Errorf("the model is there twice, or it signs in by %q:\n%s", p.SignIn, config)
		}
	}
}

// A key decides how an agent signs in.
func TestSigningIn(t *testing.T) {
	for _, c := range []struct{ id, key, file, with, without string }{
		{"gemini", "GEMINI_API_KEY", ".gemini/settings.json", "gemini-api-key", "oauth-personal"},
		{"qwen", "OPENAI_API_KEY", ".qwen/settings.json", `"openai"`, "qwen-oauth"},
	} {
		for _, keys := range [][]string{{c.key}, nil} {
			p, err := Build(c.id, Operator{Keys: keys})
			if err != nil {
				t.Fatal(err)
			}
			want := c.without
			if keys != nil {
				want = c.with
			}
			if text := string(p.Files[c.file]); !strings.Contains(text, want) {
				t.Errorf("%s with %v: %s", c.id, keys, text)
			}
		}
	}
	if p, _ := Build("codex", Operator{Keys: []string{"OPENAI_API_KEY"}}); p.SignIn != "openai-api-key" {
		t.Errorf("Codex with a key signs in by %q", p.SignIn)
	}
}

func TestToolIn(t *testing.T) {
	p := Profile{Oddities: Oddities{OurTool: "{tool} (familiar MCP Server)"}}
	for title, want := range map[string]string{"send-reply (familiar MCP Server)": "send-reply", "send-reply (other MCP Server)": "",
		"send-reply": "", " (familiar MCP Server)": ""} {
		if got := p.ToolIn(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
	if got := (Profile{}).ToolIn("send-reply"); got != "" {
		t.Errorf("a profile without a way names %q", got)
	}
}
