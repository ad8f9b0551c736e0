package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A bot that comes to an empty machine while the repository of its copy is away does not begin without its memory: it says
// what is wrong and what to do, and leaves the machine as empty as it was. When the repository is back, so is everything;
// from then on it may be away.
func TestTheCopyIsAway(t *testing.T) {
	t.Parallel()
	remote := filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.Command("git", "init", "--quiet", "--bare", remote).CombinedOutput(); err != nil {
		t.Skipf("there is no git: %s", out)
	}
	config := fmt.Sprintf("version: 1\nskillApi: {port: 0}\ngitBackup: {enabled: true, remoteUrl: %q}\n", remote)
	note := filepath.Join("data", "agent-workspace", "notes", "tea.md")
	old := newBot(t, config)
	old.start()
	if err := os.WriteFile(filepath.Join(old.dir, note), []byte("green\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := old.stop(); code != 0 {
		t.Fatal("exit code", code)
	}

	moved := newBot(t, config)
	away(t, remote, func() {
		for range 2 {
			if err := moved.tryStart(); err == nil {
				t.Fatal("it began without its memory")
			}
			if code := moved.cmd.ProcessState.ExitCode(); code == 0 || !moved.logged("gitBackup: what belongs in") || !moved.logged("gitBackup.enabled: false") {
				t.Errorf("exit code %d", code)
			}
		}
	})
	moved.start()
	if text, err := os.ReadFile(filepath.Join(moved.dir, note)); err != nil || string(text) != "green\n" {
		t.Errorf("%q, %v", text, err)
	}
	if code := moved.stop(); code != 0 {
		t.Error("exit code", code)
	}
	away(t, remote, moved.start)
}

// away does something while a folder has another name.
func away(t *testing.T, dir string, do func()) {
	t.Helper()
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	do()
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
}
