package acp

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/agent/script"
)

// What a session is lent lies in its own HOME when its process starts, and is gone with it. A loan that fails is no
// reason not to start.
func TestLend(t *testing.T) {
	var homes []string
	lent := func(o agent.Opening, home string) error {
		homes = append(homes, home)
		if o.Workspace.User == "bob" {
			return errors.New("the disk is full")
		}
		return os.WriteFile(filepath.Join(home, ".loan"), []byte("the loan"), 0o600)
	}
	a := scripted(t, quick(), script.Script{Turns: []script.Turn{{Steps: []script.Step{{Read: "loan"}}}}}, func(d *Deps) { d.Lend = lent })
	for _, who := range []string{"ann", "bob"} {
		s := open(t, a, opening(who))
		if who == "ann" {
			// The scripted agent knows no variables: it finds its HOME by a link.
			work := filepath.Join(filepath.Dir(filepath.Dir(homes[0])), "work")
			if err := os.Symlink(filepath.Join(homes[0], ".loan"), filepath.Join(work, "loan")); err != nil {
				t.Fatal(err)
			}
			w := &agenttest.Watch{}
			if _, err := prompt(t.Context(), s, w, "go"); err != nil || !strings.Contains(w.Said(), "the loan") {
				t.Errorf("read %q, %v", w.Said(), err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, home := range homes {
		if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s stays: %v", home, err)
		}
	}
	if len(homes) != 2 {
		t.Errorf("lent to %d", len(homes))
	}
}
