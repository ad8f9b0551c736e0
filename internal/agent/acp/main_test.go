package acp

import (
	"io"
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"

	"familiar/internal/agent/script"
	"familiar/internal/workspace"
)

func TestMain(m *testing.M) {
	script.Main()
	goleak.VerifyTestMain(m)
}

// quick are settings under which nothing takes long.
func quick() Config {
	cfg := Defaults()
	cfg.ConnectTimeoutMs, cfg.CancelGraceMs, cfg.PromptTimeoutMs, cfg.WarmSpare = 20_000, 5_000, 60_000, 0
	return cfg
}

// folders makes an instance's folders.
func folders(t *testing.T) *workspace.Folders {
	t.Helper()
	f, err := workspace.Open(t.TempDir(), "workspaces")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// scripted makes an agent whose processes play s.
func scripted(t *testing.T, cfg Config, s script.Script, change func(*Deps)) *Agent {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env, err := script.Environment(s)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range cfg.Env {
		env[name] = value
	}
	env["GORACE"] = "atexit_sleep_ms=0" // a race-checked process otherwise takes a second to end
	cfg.Env, cfg.Command = env, self
	deps := Deps{Log: quiet(), Enter: folders(t).Enter, Parent: os.Environ()}
	if change != nil {
		change(&deps)
	}
	a, err := New(cfg, Custom(cfg), deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
