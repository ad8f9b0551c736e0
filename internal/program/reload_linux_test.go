package program

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func (b *bot) logged(words string) bool { return strings.Contains(b.log.String(), words) }

// SIGHUP and a changed file reload the configuration of a bot without a terminal; a bad one changes nothing. Nothing of
// it ends the bot, and no setting whose name looks like that of a secret is masked.
func TestReload(t *testing.T) {
	t.Parallel()
	b := newBot(t, "version: 1\nagent: {geminiApiKey: env:NOPE}\n")
	b.start()
	wait(t, "the key whose variable is not set", func() bool { return b.logged(`"setting":"agent.geminiApiKey","say":"the variable NOPE is not set"`) })
	if err := b.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	wait(t, "a reload by SIGHUP", func() bool { return b.logged("the configuration was read anew") })
	b.write("config.yaml", "version: 1\nserver: {port: 1, shutdownMs: 5000}\naccess: {replyPloicy: all}\n")
	wait(t, "the mistake", func() bool { return b.logged("config.yaml:3:10") })
	b.write("config.yaml", "version: 1\nllm: {apiKey: a-secret-of-some-length}\noutbox: {maxParts: 2}\nplatforms: {web: {}}\n")
	wait(t, "the change", func() bool { return b.logged("restart to apply: llm.apiKey") })
	if b.logged("a-secret-of-some-length") {
		t.Error("a secret is in the log")
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// A bot whose terminal goes away leaves in order; a SIGHUP while it is there reloads.
func TestTheTerminalGoesAway(t *testing.T) {
	t.Parallel()
	b := newBot(t, "version: 1\n")
	master, terminal := pseudoTerminal(t)
	cmd := b.command("up", "--dir", b.dir, "--port", "0", "--no-open")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = terminal.Close()
	b.cmd, b.exited = cmd, make(chan struct{})
	go func() {
		defer close(b.exited)
		_ = cmd.Wait()
	}()
	logged := func(words string) func() bool {
		return func() bool {
			text, _ := os.ReadFile(filepath.Join(b.dir, "logs", "familiar.log"))
			return strings.Contains(string(text), words)
		}
	}
	go func() { _, _ = io.Copy(b.log, master) }() // ends with the terminal
	wait(t, "the bot is ready", func() bool { return b.logged("ready http://") })
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	wait(t, "a reload", logged("the configuration was read anew"))
	if err := master.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.exited:
	case <-time.After(patience):
		t.Fatal("it did not leave")
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 || !logged("leaving")() {
		t.Errorf("exit code %d", code)
	}
}

// pseudoTerminal makes a terminal and returns both of its ends.
func pseudoTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	// Not by Fd, which would make reads of it outlive Close.
	raw, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number int
	control := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err := errors.Join(control, err); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, terminal
}
