package process_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// parentOf finds the parent of a process.
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

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
