package program

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Two processes of our own stand between the bot and an agent. Neither sets up the libraries that only the bot needs,
// which would double what a start costs.
func TestAWardenSetsUpNoLibraries(t *testing.T) {
	null, err := os.Open(os.DevNull) // it is told nothing, and ends
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close() //nolint:errcheck // nothing is written there
	for _, name := range []string{"familiar-warden", "familiar-gate"} {
		cmd := exec.CommandContext(t.Context(), program(t))
		cmd.Args = []string{name}
		cmd.Env = []string{"FAMILIAR_WARDEN=1", "GODEBUG=inittrace=1"}
		cmd.ExtraFiles = []*os.File{null, null}
		var setUp bytes.Buffer
		cmd.Stderr = &setUp
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if said := setUp.String(); !strings.Contains(said, "init golang.org/x/sys/unix ") || strings.Contains(said, "client_golang") || strings.Contains(said, "goldmark") {
			t.Errorf("%s set up:\n%s", name, said)
		}
	}
}
