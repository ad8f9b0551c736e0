package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runConfig runs a config command and returns what it wrote and its exit code.
func runConfig(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := configCommand()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	code = exitCode(cmd.ExecuteContext(t.Context()), &stderr)
	return stdout.String(), stderr.String(), code
}

func configDir(t *testing.T, yaml string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// plainEnv keeps variables of whoever runs the tests out of them.
func plainEnv(t *testing.T) {
	t.Helper()
	for _, name := range []string{"FAMILIAR_ENV", "APP_ENV", "DENO_ENV", "ENV", "REPLY_POLICY", "REPLY_TO", "CHANNELS"} {
		t.Setenv(name, "")
	}
}

func TestConfigCheck(t *testing.T) {
	plainEnv(t)
	cases := []struct {
		name, yaml string
		code       int
		errs       []string
	}{
		{"good", "version: 1\n", 0, nil},
		{"a warning is no failure", "version: 1\naccess: {channels: [\"*\"]}\n", 0, []string{"warning: ", "hears everybody"}},
		{"AF-4 no platform", "version: 1\nplatforms: {web: {enabled: false}}\n", 1, []string{"config.yaml:2:1: platforms: no platform is on"}},
		{"AF-7 a list", "- a\n", 1, []string{"config.yaml:1:1: the file holds a list"}},
		{"AF-12 an unknown policy", "version: 1\naccess: {replyPolicy: friends}\n", 1, []string{"config.yaml:2:23: access.replyPolicy", "all", "public", "channels"}},
		{"all at once", "version: 1\naccess:\n  replyPloicy: all\nserver: {port: x}\n", 1, []string{
			"config.yaml:3:3: access.replyPloicy: unknown key; did you mean replyPolicy?\n", "config.yaml:4:16: server.port"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, errs, code := runConfig(t, "check", "--dir", configDir(t, c.yaml))
			if code != c.code || (out == "") == (c.code == 0) {
				t.Fatalf("exit %d, out %q, errs %q", code, out, errs)
			}
			for _, want := range c.errs {
				if !strings.Contains(errs, want) {
					t.Errorf("no %q in %q", want, errs)
				}
			}
		})
	}
}

func TestConfigOfAPlaceThatIsNotThere(t *testing.T) {
	plainEnv(t)
	gone := filepath.Join(t.TempDir(), "gone")
	for _, args := range [][]string{{"check", "--dir", gone}, {"show", "--config", gone + ".yaml"}} {
		if _, errs, code := runConfig(t, args...); code != exitFailed || !strings.Contains(errs, gone) {
			t.Errorf("%v: exit %d, %q", args, code, errs)
		}
	}
	file := filepath.Join(configDir(t, "version: 1\n"), "config.yaml")
	if _, errs, code := runConfig(t, "check", "--dir", file); code != exitFailed || !strings.Contains(errs, "use --config") {
		t.Errorf("a file as directory: exit %d, %q", code, errs)
	}
}

func TestConfigShow(t *testing.T) {
	plainEnv(t)
	t.Setenv("REPLY_POLICY", "all")
	dir := configDir(t, "version: 1\nserver: {port: 7}\nagent: {geminiApiKey: very-secret-value}\n")
	out, errs, code := runConfig(t, "show", "--dir", dir)
	if code != 0 || errs != "" || strings.Contains(out, "very-secret-value") || strings.Contains(out, "\x1b") {
		t.Fatalf("exit %d, errs %q, out %q", code, errs, out)
	}
	for _, want := range []string{"  port: 7  # " + filepath.Join(dir, "config.yaml") + ":2:16\n", "  replyPolicy: all  # environment REPLY_POLICY\n", "geminiApiKey: \"…\"", "  # default\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	out, _, code = runConfig(t, "show", "--json", "--config", filepath.Join(dir, "config.yaml"))
	var settings []struct {
		Path, Origin string
		Value        json.RawMessage
	}
	if err := json.Unmarshal([]byte(out), &settings); err != nil || code != 0 || len(settings) < 30 {
		t.Fatalf("exit %d, %v: %.200s", code, err, out)
	}
	if strings.Contains(out, "very-secret-value") {
		t.Error("a secret is shown")
	}
}

// Without a flag, the instance that up would run is meant, and it need not be there yet.
func TestConfigOfTheDefaultInstance(t *testing.T) {
	plainEnv(t)
	root := t.TempDir()
	t.Setenv("FAMILIAR_ROOT", root)
	if _, errs, code := runConfig(t, "check"); code != 0 {
		t.Fatalf("exit %d, %q", code, errs)
	}
	dir := filepath.Join(root, "instances", "familiar")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("version: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := runConfig(t, "check"); code != exitFailed || !strings.Contains(errs, "config.yaml:1:10: version: 3") {
		t.Fatalf("exit %d, %q", code, errs)
	}
}

func TestConfigSchema(t *testing.T) {
	out, _, code := runConfig(t, "schema")
	if code != 0 || !json.Valid([]byte(out)) || !strings.Contains(out, "replyPolicy") {
		t.Fatalf("exit %d, %.200s", code, out)
	}
}

func TestConfigMisuse(t *testing.T) {
	for _, args := range [][]string{{"chekc"}, {"check", "more"}} {
		cmd := configCommand()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(args)
		var wrong misuse
		if err := cmd.ExecuteContext(t.Context()); !errors.As(err, &wrong) {
			t.Errorf("%v: %v is no misuse", args, err)
		}
	}
}
