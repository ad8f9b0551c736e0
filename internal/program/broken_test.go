package program

import (
	"bufio"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"familiar/internal/agent/script"
)

// small makes a bot on a disk of its own with a few MiB; fill leaves no byte of it, free gives all back.
func small(t *testing.T, config string, env ...string) (b *bot, fill, free func()) {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=6m"); err != nil {
		if os.Getenv("CI") != "" && os.Geteuid() == 0 && !errors.Is(err, syscall.EPERM) {
			t.Fatal(err)
		}
		t.Skip("a disk of its own needs the right to mount one:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	b = newBot(t, config, env...)
	dir := filepath.Join(disk, "bot")
	if err := os.CopyFS(dir, os.DirFS(b.dir)); err != nil {
		t.Fatal(err)
	}
	b.dir = dir
	ballast := filepath.Join(disk, "ballast")
	fill = func() {
		t.Helper()
		f, err := os.Create(ballast)
		for buf := make([]byte, 4096); err == nil; {
			_, err = f.Write(buf)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	return b, fill, func() {
		t.Helper()
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
}

// A full disk: an event is refused before it is acknowledged, probes say so, and nothing that was acknowledged is
// lost. When there is space again, everything goes on without a restart.
func TestADiskThatIsFull(t *testing.T) {
	b, fill, free := small(t, "skillApi: {port: 0}\n")
	b.start()
	if _, err := b.say("/remember before"); err != nil {
		t.Fatal(err)
	}
	fill()
	for range 3 {
		resp := b.ask(t.Context(), http.MethodPost, "/v1/sessions", `{"message":"/remember meanwhile","id":"m"}`, http.StatusServiceUnavailable)
		_ = resp.Body.Close()
	}
	_ = b.ask(t.Context(), http.MethodGet, "/readyz", "", http.StatusServiceUnavailable).Body.Close()
	_ = b.ask(t.Context(), http.MethodGet, "/livez", "", http.StatusOK).Body.Close()
	free()
	_ = b.ask(t.Context(), http.MethodPost, "/v1/sessions", `{"message":"/remember after","id":"m"}`, http.StatusAccepted).Body.Close()
	wait(t, "the memory is there", func() bool {
		known, err := b.say("/memories")
		return err == nil && strings.Contains(known, "before") && strings.Contains(known, "after") && !strings.Contains(known, "meanwhile")
	})
	http.DefaultClient.CloseIdleConnections()
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// The disk is full when a turn ends: its outcome is told as soon as there is space, not at the next start.
func TestATurnThatEndsOnAFullDisk(t *testing.T) {
	b, fill, free := small(t, "")
	env, err := script.Environment(script.Script{Turns: []script.Turn{{Steps: []script.Step{{Wait: true}}}}})
	if err != nil {
		t.Fatal(err)
	}
	b.write("config.yaml", "skillApi: {port: 0}\nagent:\n  kind: acp\n  command: "+program(t)+"\n  promptTimeoutMs: 3000\n"+
		"  env: {"+script.Mark+": '"+env[script.Mark]+"'}\n")
	b.start()
	posted, err := b.control().Post(t.Context(), "", "one", "hello")
	if err != nil {
		t.Fatal(err)
	}
	b.follow(posted.Session, func(events []event) bool { return events[len(events)-1].Type == "turn.started" })
	fill()
	wait(t, "the turn has ended", func() bool { return strings.Contains(b.log.String(), "a notice did not go out") })
	free()
	events := b.follow(posted.Session, func(events []event) bool { return events[len(events)-1].Type == "turn.failed" })
	if said := summary(events); !strings.Contains(said, "Sorry") {
		t.Errorf("nobody was told: %s", said)
	}
	http.DefaultClient.CloseIdleConnections()
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Whoever reads the log goes away: the bot goes on, and still leaves in order.
func TestNobodyReadsTheLog(t *testing.T) {
	b := newBot(t, "skillApi: {port: 0}\n")
	b.start()
	b.kill()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := b.command("up", "--dir", b.dir, "--port", "0", "--no-open")
	cmd.Stdout, cmd.Stderr = write, write
	b.cmd, b.exited = cmd, make(chan struct{})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(b.exited)
		_ = cmd.Wait()
	}()
	_ = write.Close()
	lines := bufio.NewScanner(read)
	for !strings.Contains(lines.Text(), "ready http://") && lines.Scan() {
		_, b.url, _ = strings.Cut(strings.TrimRight(lines.Text(), `"}`), "ready ")
	}
	_ = read.Close()
	for range 2 {
		if _, err := b.say("/remember tea"); err != nil {
			t.Fatal(err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
