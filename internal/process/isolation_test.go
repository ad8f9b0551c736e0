package process_test

import (
	"net"
	"os"
	"strings"
	"testing"

	"familiar/internal/process"
)

// TestIsolation holds that a program, and what it starts, reaches no listener of this machine, behind walls and without
// them; that its files stay its own; and that all of it ends as ever.
func TestIsolation(t *testing.T) {
	if _, err := process.Isolable(); err != nil {
		t.Skip(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	reach := "connect|tcp|" + l.Addr().String()
	ways := map[process.Isolation]string{process.NoIsolation: "ok ok ok", process.OwnUsers: "ENETUNREACH ENETUNREACH ok"}
	if os.Geteuid() == 0 {
		ways[process.OwnNetwork] = ways[process.OwnUsers]
	}
	for way, want := range ways {
		for _, walls := range []bool{false, true} {
			rw := t.TempDir()
			tries := []string{"try", reach, "below|" + reach, "write|" + rw + "/new"}
			spec := own(t, tries...)
			if walls {
				spec = confined(t, t.TempDir(), rw, tries[1:]...)
			}
			spec.Isolation = way
			if got := strings.Join(strings.Fields(output(t, spec)), " "); got != want {
				t.Errorf("%q, walls %v: %s, want %s", way, walls, got, want)
			}
			info, err := os.Stat(rw + "/new")
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Error(info.Mode())
			}
		}
	}
}

// The kill of the tree reaches into the isolation.
func TestIsolatedTreeEnds(t *testing.T) {
	way, err := process.Isolable()
	if err != nil {
		t.Skip(err)
	}
	spec := own(t, "parent", "linger", "stubborn")
	spec.Isolation = way
	p := start(t, spec)
	pid := p.PID()
	if err := p.Stop(quick); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program is gone", func() bool { return !alive(pid) })
}
