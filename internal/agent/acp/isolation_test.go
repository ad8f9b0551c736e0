package acp

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
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
	a := scripted(t, cfg, seesNetwork, func(d *Deps) {
		d.Log = slog.New(slog.NewTextHandler(&log, nil))
		d.Isolable = func() (process.Isolation, error) { return process.NoIsolation, errors.New("no namespaces") }
	})
	if port := listening(t); !strings.Contains(ask(t, open(t, a, opening("ann")), "hi").Said(), port) {
		t.Error("the agent has not the network of this machine")
	}
	if text := log.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "networkIsolation is on") || !strings.Contains(text, "no namespaces") {
		t.Errorf("the log says %s", text)
	}
}

// seesNetwork is an agent that says which sockets of its network there are.
var seesNetwork = says(script.Step{Read: "/proc/self/net/tcp"})

// listening opens a socket, and returns its port as the kernel lists it.
func listening(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	addr, _ := l.Addr().(*net.TCPAddr)
	return fmt.Sprintf("0100007F:%04X 00000000:0000", addr.Port)
}

// With it on, an agent has no network but one that leads nowhere; without it, that of the machine.
func TestIsolation(t *testing.T) {
	if _, err := process.Isolable(); err != nil {
		t.Skip(err)
	}
	port := listening(t)
	for _, on := range []bool{false, true} {
		cfg := quick()
		cfg.Sandbox.NetworkIsolation = on
		a := scripted(t, cfg, seesNetwork, nil)
		said := ask(t, open(t, a, opening("ann")), "hi").Said()
		if !strings.Contains(said, "local_address") || on == strings.Contains(said, port) {
			t.Errorf("isolated %v: it sees %q", on, said)
		}
	}
}
