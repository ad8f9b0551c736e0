package instance

import (
	"bufio"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// holdEnv makes the test's own executable a process that holds a directory until its input ends.
const holdEnv = "FAMILIAR_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		hold(dir)
	}
	goleak.VerifyTestMain(m)
}

func hold(dir string) {
	inst, err := Find(dir, "")
	if err == nil {
		var lock *Lock
		if lock, err = inst.Lock(); err == nil {
			err = lock.SetURL("http://127.0.0.1:8420/")
		}
	}
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("held\n")
	bufio.NewReader(os.Stdin).ReadByte()
	os.Exit(0)
}

// another starts another process that holds dir.
func another(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), holdEnv+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd
}

func fresh(t *testing.T) Instance {
	t.Helper()
	inst, err := Find(filepath.Join(t.TempDir(), "bot"), "")
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestFind(t *testing.T) {
	t.Setenv("FAMILIAR_ROOT", "/x")
	inst, err := Find("", "a-1")
	if err != nil || inst.Dir != "/x/instances/a-1" { // GA-1
		t.Errorf("%+v, %v", inst, err)
	}
	if inst.Database() != "/x/instances/a-1/state/familiar.db" || inst.Logs() != "/x/instances/a-1/logs" {
		t.Errorf("%s, %s", inst.Database(), inst.Logs())
	}
	t.Setenv("FAMILIAR_ROOT", "")
	t.Setenv("HOME", "/home/ann")
	if inst, err = Find("", "a"); err != nil || inst.Dir != "/home/ann/.familiar/instances/a" { // GA-2
		t.Errorf("%+v, %v", inst, err)
	}
	for _, id := range []string{"A1", "a_b", "../x", "a/b", "", "-a", "a-", "a.b", strings.Repeat("a", 65)} { // GA-3
		if inst, err := Find("", id); err == nil {
			t.Errorf("%q: %+v", id, inst)
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if inst, err = Find("bot", "ignored"); err != nil || inst.Dir != filepath.Join(dir, "bot") {
		t.Errorf("%+v, %v", inst, err)
	}
}

func TestCreate(t *testing.T) {
	inst := fresh(t)
	for range 2 {
		if err := inst.Create(); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{inst.Dir, inst.State(), inst.Logs()} {
			if mode(t, dir) != 0o700 {
				t.Errorf("%s: %v", dir, mode(t, dir))
			}
		}
		for _, dir := range []string{inst.State(), inst.Logs()} { // what somebody opened is closed again
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestLock(t *testing.T) {
	inst := fresh(t)
	if r, err := inst.Running(); !errors.Is(err, ErrNotRunning) {
		t.Errorf("nobody ever ran: %+v, %v", r, err)
	}
	holder := another(t, inst.Dir)
	_, err := inst.Lock()
	if err == nil || !strings.Contains(err.Error(), strconv.Itoa(holder.Process.Pid)) {
		t.Errorf("a second process: %v", err)
	}
	want := Running{PID: holder.Process.Pid, URL: "http://127.0.0.1:8420/"}
	if r, err := inst.Running(); err != nil || r != want {
		t.Errorf("got %+v, %v", r, err)
	}
	if mode(t, filepath.Join(inst.State(), "familiar.pid")) != 0o600 {
		t.Error("the pid file is open to others")
	}
	// A process that was killed holds nothing, whatever its file says.
	if err := holder.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	holder.Wait()
	if r, err := inst.Running(); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after a kill: %+v, %v", r, err)
	}
	lock, err := inst.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := inst.Running(); err != nil || r != (Running{PID: os.Getpid()}) {
		t.Errorf("before the address is known: %+v, %v", r, err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if r, err := inst.Running(); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after Release: %+v, %v", r, err)
	}
}

// Whoever looks whether a bot runs must not keep it from starting.
func TestLockWhileOthersLook(t *testing.T) {
	inst := fresh(t)
	if err := inst.Create(); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = inst.Running() // a file that is just being written is an error
			}
		}
	})
	for range 100 {
		lock, err := inst.Lock()
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestLockIsNoLink(t *testing.T) {
	inst := fresh(t)
	if err := inst.Create(); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(other, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"familiar.pid", "token"} {
		if err := os.Symlink(other, filepath.Join(inst.State(), name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := inst.Lock(); err == nil {
		t.Error("locked through a link")
	}
	if _, err := inst.Token(); err == nil {
		t.Error("read through a link")
	}
	if text, err := os.ReadFile(other); string(text) != "x" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

func TestToken(t *testing.T) {
	inst := fresh(t)
	if _, err := inst.ReadToken(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("before the first start: %v", err)
	}
	if err := inst.Create(); err != nil {
		t.Fatal(err)
	}
	token, err := inst.Token()
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := hex.DecodeString(token.Reveal()); err != nil || len(raw) != 32 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	path := filepath.Join(inst.State(), "token")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := inst.Token()
	if err != nil || again != token {
		t.Errorf("another token at the second start: %v", err)
	}
	if mode(t, path) != 0o600 {
		t.Error("the token is open to others")
	}
	for _, bad := range []string{"", "\n", "short"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := inst.Token(); err == nil || got.Set() {
			t.Errorf("%q is a token", bad)
		}
	}
	if other := fresh(t); other.Create() == nil {
		if second, err := other.Token(); err != nil || second == token {
			t.Errorf("two bots with one token, %v", err)
		}
	}
}

// A pipe in the place of the token says nothing, and is not waited for.
func TestATokenThatIsAPipe(t *testing.T) {
	inst := fresh(t)
	if err := inst.Create(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(inst.State(), "token"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, err := inst.Token(); err == nil {
		t.Errorf("it gave %d bytes", len(token.Reveal()))
	}
}
