package acp

import (
	"errors"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/chat"
)

// One that was killed after it was claimed, before anything came of the first prompt, costs nobody a turn: another
// process serves it, and reaches the tools.
func TestSpareDiesOnItsFirstPrompt(t *testing.T) {
	a, sp := warmed(t, nil)
	o, seat, noted := seated(a.Session(ref("ann"), chat.Direct), "ann", chat.Direct)
	s := open(t, a, o)
	if processOf(s) != sp.made {
		t.Fatal("the process that waits was not claimed")
	}
	if err := sp.made.child.stop(); err != nil {
		t.Fatal(err)
	}
	seat.Begin(t.Context(), turnOf("ann"))
	defer seat.End()
	ask(t, s, "note")
	if got := <-noted; got != "ann tea" {
		t.Errorf("noted %q", got)
	}
	if processOf(s) == sp.made || a.Living() != 1 {
		t.Errorf("the process that ended is in use; %d live", a.Living())
	}
	if err := processOf(s).child.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prompt(t.Context(), turnOf("ann"), []agent.Block{agent.Text("note")}, &agenttest.Watch{}); !errors.Is(err, agent.ErrGone) {
		t.Errorf("another was started twice: %v", err)
	}
}

// A session that was closed is not opened again by a prompt.
func TestClosedSpareStaysClosed(t *testing.T) {
	a, _ := warmed(t, nil)
	a.warm = 0
	o, _, _ := seated(a.Session(ref("ann"), chat.Direct), "ann", chat.Direct)
	s := open(t, a, o)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prompt(t.Context(), turnOf("ann"), []agent.Block{agent.Text("note")}, &agenttest.Watch{}); !errors.Is(err, agent.ErrGone) {
		t.Errorf("a closed session answers %v", err)
	}
	if a.Living() != 0 {
		t.Errorf("%d live", a.Living())
	}
}
