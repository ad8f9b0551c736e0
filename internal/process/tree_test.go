package process_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"familiar/internal/process"
)

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

// A process that forks and leaves, again and again, is gone before anybody can name it.
func TestStopCatchesARunner(t *testing.T) {
	for range 3 {
		p := start(t, process.Spec{Path: "/bin/sh", Args: []string{"-c", "run() { run & }; run; echo running; read x"}, Dir: "/"})
		if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := p.Stop(quick); err != nil { // Stop returns only when the warden has no descendant left
			t.Error(err)
		}
		select {
		case <-p.Done():
		default:
			t.Error("stopped and not done")
		}
	}
}
