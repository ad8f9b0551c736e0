package acp

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"familiar/internal/agent/script"
	"familiar/internal/process"
)

// AF-192: agents are to be kept from the network and cannot be: that is a warning, and they run without.
func TestIsolationThatCannotBe(t *testing.T) {
	cfg := quick()
	cfg.Sandbox.NetworkIsolation = true
	var log bytes.Buffer
	a := scripted(t, cfg, says(script.Step{Say: "hello"}), func(d *Deps) {
		d.Log = slog.New(slog.NewTextHandler(&log, nil))
		d.Isolable = func() (process.Isolation, error) { return process.NoIsolation, errors.New("no namespaces") }
	})
	if w := ask(t, open(t, a, opening("ann")), "hi"); w.Said() != "hello" {
		t.Errorf("it said %q", w.Said())
	}
	if text := log.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "networkIsolation is on") || !strings.Contains(text, "no namespaces") {
		t.Errorf("the log says %s", text)
	}
}

// With it on, an agent has no network but one that leads nowhere; without it, that of the machine.
func TestIsolation(t *testing.T) {
	if _, err := process.Isolable(); err != nil {
		t.Skip(err)
	}
	for _, on := range []bool{false, true} {
		cfg := quick()
		cfg.Sandbox.NetworkIsolation = on
		a := scripted(t, cfg, says(script.Step{Read: "/proc/self/net/route"}, script.Step{Read: "/proc/self/net/tcp"}), nil)
		w := ask(t, open(t, a, opening("ann")), "hi")
		if lines := strings.Count(w.Said(), "\n"); on != (lines <= 2) {
			t.Errorf("isolated %v: it sees %q", on, w.Said())
		}
	}
}
