package process_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"familiar/internal/process"
)

var quick = process.Grace{EOF: 50 * time.Millisecond, Term: 50 * time.Millisecond}

// own is a spec of our own executable as a program.
func own(t *testing.T, args ...string) process.Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return process.Spec{Path: self, Args: append([]string{"child"}, args...), Dir: "/"}
}

// start starts a program that is stopped at the end of the test.
func start(t *testing.T, spec process.Spec) *process.Process {
	t.Helper()
	p, err := process.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(quick); err != nil {
			t.Error(err)
		}
	})
	return p
}

// output reads all that a program writes until it ends.
func output(t *testing.T, spec process.Spec) string {
	t.Helper()
	p := start(t, spec)
	out, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	return string(out)
}

// eventually polls a condition.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// alive reports whether a process runs; one that is dead and not yet collected does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

// word reads a line that starts with word, and returns the number that follows.
func word(t *testing.T, in *bufio.Reader, want string) int {
	t.Helper()
	line, err := in.ReadString('\n')
	name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
	n, convErr := strconv.Atoi(number)
	if err != nil || name != want || convErr != nil {
		t.Fatalf("got %q, %v; want %q and a number", line, err, want)
	}
	return n
}

// warden finds the parent of a process.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	ppid, err := strconv.Atoi(strings.Fields(after)[1])
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}

func TestExit(t *testing.T) {
	for code, want := range map[string]error{"0": nil, "3": process.Exit{Code: 3}} {
		p := start(t, own(t, "exit", code))
		<-p.Done()
		if p.Err() != want {
			t.Errorf("exit %s: %v", code, p.Err())
		}
	}
	p := start(t, own(t, "cat"))
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if want := (process.Exit{Code: -1, Signal: syscall.SIGKILL}); p.Err() != want {
		t.Errorf("killed: %v", p.Err())
	}
}

func TestStartRefuses(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(dir, "lost")
	if err := os.WriteFile(lost, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]process.Spec{
		"missing":     {Path: "/no/such/program", Dir: "/"},
		"bare name":   {Path: "no-such-program-anywhere", Dir: "/"},
		"plain file":  {Path: plain, Dir: "/"},
		"interpreter": {Path: lost, Dir: "/"},
		"directory":   {Path: "/bin/sh", Dir: "/no/such/dir"},
		"zero byte":   {Path: "/bin/sh", Args: []string{"a\x00b"}, Dir: "/"},
		"write wall":  {Path: "/bin/sh", Dir: "/", Walls: &process.Walls{Write: []string{"/no/such/dir"}}},
		"no libc":     {Path: "/bin/sh", Dir: "/", Walls: &process.Walls{Read: []string{"relative"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := process.Start(t.Context(), spec)
			if err == nil {
				p.Stop(quick)
				t.Fatal("started")
			}
			if !strings.Contains(err.Error(), spec.Path) {
				t.Errorf("%v: does not name %s", err, spec.Path)
			}
		})
	}
}

func TestStartEndsWithContext(t *testing.T) {
	cause := errors.New("changed our mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := process.Start(ctx, own(t, "cat")); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	// Cut off at any moment, Start either gives a process or leaves none.
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
		p, err := process.Start(ctx, own(t, "cat"))
		if err == nil {
			err = p.Stop(quick)
		} else if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
		if err != nil {
			t.Error(err)
		}
		cancel()
	}
	eventually(t, "no child is left", func() bool { return len(children(t)) == 0 })
}

// children lists our own children.
func children(t *testing.T) []string {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, l := range lists {
		text, _ := os.ReadFile(l)
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

func TestEnvironmentFromNothing(t *testing.T) {
	t.Setenv("LEAK", "1")
	spec := own(t, "env")
	spec.Env = []string{"ONE=1", "ODD=\xff\xfe"}
	if got := output(t, spec); got != "ONE=1\nODD=\xff\xfe\n" {
		t.Errorf("got %q", got)
	}
	spec.Env = nil
	if got := strings.TrimSpace(output(t, spec)); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestNoStrayFiles(t *testing.T) {
	// A file without the close-on-exec flag, as a careless parent may leave one.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	stray, err := syscall.Dup(int(w.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(stray)
	for line := range strings.Lines(output(t, own(t, "files"))) {
		fd, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, _ := strconv.Atoi(fd); n > 2 && !strings.HasPrefix(target, "/proc/") && !strings.HasPrefix(target, "/sys/") && // the runtime's own
			!strings.HasPrefix(target, "anon_inode:") {
			t.Errorf("file %s is %s", fd, target)
		}
	}
}

func TestPipes(t *testing.T) {
	p := start(t, own(t, "cat"))
	big := strings.Repeat("0123456789abcdef", 1<<16)
	var got []byte
	var wg sync.WaitGroup
	wg.Go(func() { got, _ = io.ReadAll(p.Stdout()) })
	if _, err := p.Stdin().WriteString(big); err != nil {
		t.Error(err)
	}
	p.Stdin().Close()
	wg.Wait()
	if string(got) != big {
		t.Errorf("got %d bytes back of %d", len(got), len(big))
	}
	<-p.Done()
	if p.Err() != nil {
		t.Error(p.Err())
	}
}

func TestStdinTakesDeadlines(t *testing.T) {
	p := start(t, own(t, "stubborn")) // never reads
	if err := p.Stdin().SetWriteDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err := p.Stdin().Write(make([]byte, 1<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestStderrLines(t *testing.T) {
	var lines []string
	spec := own(t, "flood", strconv.Itoa(3<<20))
	spec.Stderr = func(line string) { lines = append(lines, line) }
	p := start(t, spec)
	<-p.Done()
	want := []string{strings.Repeat("x", 4<<10), "short", "last"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %d lines", len(lines))
	}
}

// The program ends by itself; its grandchild left the group, ignores SIGTERM and holds stdout.
func TestProgramEndsAndLeavesSomebody(t *testing.T) {
	p := start(t, own(t, "parent", "leave", "stubborn"))
	out := bufio.NewReader(p.Stdout())
	grandchild := word(t, out, "stubborn")
	if _, err := p.Stdin().Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.Err() != nil {
		t.Error(p.Err())
	}
	if alive(grandchild) {
		t.Error("the grandchild lives")
	}
	if _, err := out.ReadByte(); err != io.EOF {
		t.Errorf("stdout: %v", err)
	}
}

func TestStopEndsTheTree(t *testing.T) {
	p := start(t, own(t, "parent", "linger", "parent", "linger", "stubborn"))
	grandchild := word(t, bufio.NewReader(p.Stdout()), "stubborn")
	var wg sync.WaitGroup
	for range 4 { // from several goroutines; each returns only when all is gone
		wg.Go(func() {
			if err := p.Stop(quick); err != nil {
				t.Error(err)
			}
			if alive(grandchild) || alive(p.PID()) {
				t.Error("somebody lives after Stop")
			}
		})
	}
	wg.Wait()
	if err := p.Stop(quick); err != nil {
		t.Errorf("again: %v", err)
	}
	select {
	case <-p.Done():
	default:
		t.Error("stopped and not done")
	}
}

func TestStopIsGentleFirst(t *testing.T) {
	p := start(t, own(t, "cat"))
	if err := p.Stop(process.Grace{EOF: time.Minute}); err != nil {
		t.Error(err)
	}
	if p.Err() != nil {
		t.Errorf("cat ends by itself when its input ends: %v", p.Err())
	}
}

func TestHostKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(self, "child", "host", "parent", "linger", "stubborn")
	pipe, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	program := word(t, out, "program")
	grandchild := word(t, out, "stubborn")
	warden := parentOf(t, program)
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	host.Wait()
	for name, pid := range map[string]int{"warden": warden, "program": program, "grandchild": grandchild} {
		eventually(t, name+" is gone", func() bool { return !alive(pid) })
	}
}

func TestWardenKilled(t *testing.T) {
	p := start(t, own(t, "cat"))
	if err := syscall.Kill(parentOf(t, p.PID()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if p.Err() == nil {
		t.Error("no error")
	}
	eventually(t, "the program is gone", func() bool { return !alive(p.PID()) })
}

func TestWardenTerminated(t *testing.T) {
	p := start(t, own(t, "parent", "wait", "stubborn"))
	grandchild := word(t, bufio.NewReader(p.Stdout()), "stubborn")
	if err := syscall.Kill(parentOf(t, p.PID()), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if alive(grandchild) || p.Err() == nil {
		t.Errorf("grandchild alive %v, error %v", alive(grandchild), p.Err())
	}
}

func TestManyAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			p, err := process.Start(t.Context(), own(t, "cat"))
			if err != nil {
				t.Error(err)
				return
			}
			p.Stdin().WriteString("x")
			if b := make([]byte, 1); true {
				if _, err := io.ReadFull(p.Stdout(), b); err != nil {
					t.Error(err)
				}
			}
			if err := p.Stop(process.Grace{EOF: time.Minute}); err != nil || p.Err() != nil {
				t.Error(err, p.Err())
			}
		})
	}
	wg.Wait()
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
