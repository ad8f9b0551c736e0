package script_test

import (
	"testing"

	"go.uber.org/goleak"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContract(t *testing.T) {
	agenttest.Run(t, func(t *testing.T) agent.Agent {
		a := script.New(script.Contract())
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if n := a.Living(); n != 0 {
				t.Errorf("%d sessions are left", n)
			}
		})
		return a
	})
}
