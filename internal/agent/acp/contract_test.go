package acp

import (
	"context"
	"sync"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
	"familiar/internal/toolserver"
)

// doors serves tools on loopback until the test ends.
func doors(t *testing.T) *toolserver.Server {
	t.Helper()
	cfg := toolserver.Defaults()
	cfg.Port = 0
	s := toolserver.New(cfg, quiet())
	ctx, cancel := context.WithCancel(context.Background())
	if err := s.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.Serve(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); serving.Wait() })
	return s
}

// gone fails the test when a process of the agent is left.
func gone(t *testing.T, a *Agent) {
	t.Helper()
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if n := a.Living(); n != 0 {
			t.Errorf("%d agents are left", n)
		}
	})
}

func TestContract(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agent.Agent {
		server := doors(t)
		a := scripted(t, quick(), script.Contract(), func(d *Deps) { d.Door = server.Admit })
		gone(t, a)
		return a
	})
}
