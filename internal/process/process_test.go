package process_test

import (
	"context"
	"errors"
	"io"
	"os"
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

func TestExit(t *testing.T) {
	for code, want := range map[string]error{"0": nil, "3": process.Exit{Code: 3}} {
		p := start(t, own(t, "exit", code))
		<-p.Done()
		if !errors.Is(p.Err(), want) {
			t.Errorf("exit %s: %v", code, p.Err())
		}
	}
	p := start(t, own(t, "cat"))
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if want := (process.Exit{Code: -1, Signal: syscall.SIGKILL}); !errors.Is(p.Err(), want) {
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
