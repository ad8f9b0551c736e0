package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// tree is the program with everything that descends from it. One goroutine owns it.
type tree struct {
	main     int
	ended    bool // the program itself is gone, and the host knows
	status   *os.File
	children <-chan os.Signal // rings when a child changed
}

// killPace is how often a killed tree is looked at again when no child says that it is gone.
const killPace = 5 * time.Millisecond

// reap collects every child that is gone, and reports whether that was all of them. As the warden adopts every
// orphan, no child means no descendant.
func (t *tree) reap() (none bool) {
	for {
		var how unix.WaitStatus
		pid, err := unix.Wait4(-1, &how, unix.WNOHANG, nil)
		switch {
		case err == unix.EINTR:
			continue
		case gone(err):
			return true
		case err != nil || pid == 0:
			return false
		case pid == t.main:
			t.tell(how)
		}
	}
}

// tell reports how the program ended.
func (t *tree) tell(how unix.WaitStatus) {
	t.ended = true
	r := report{Exited: true, Code: how.ExitStatus()}
	if how.Signaled() {
		r.Code, r.Signal = -1, int(how.Signal())
	}
	_ = send(t.status, r) // a host that is gone does not ask
}

// end asks the whole tree to end, kills it after the grace, and returns when none of it is left.
func (t *tree) end(grace time.Duration) {
	sent := syscall.SIGTERM
	signalAll(sent)
	deadline := time.Now().Add(grace)
	for !t.reap() {
		if t.ended { // what is left then need not wait for the program's grace
			if soon := time.Now().Add(leftoverGrace); soon.Before(deadline) {
				deadline = soon
			}
		}
		wait := time.Until(deadline)
		if wait <= 0 {
			sent = syscall.SIGKILL
		}
		if sent == syscall.SIGKILL {
			signalAll(sent)
			wait = killPace
		}
		select {
		case <-t.children:
		case <-time.After(wait):
		}
	}
}

// signalAll signals every descendant, parents first. A process may come between the look and the signal, so the
// caller repeats it. Where a process below a child is reaped and its number given away in that instant, the
// signal could meet a stranger: numbers are given in a circle, so it would take the whole circle in microseconds.
func signalAll(s syscall.Signal) {
	for next := childrenOf(os.Getpid()); len(next) > 0; {
		var below []int
		for _, pid := range next {
			below = append(below, childrenOf(pid)...)
			_ = syscall.Kill(pid, s)
		}
		next = below
	}
}

// childrenOf lists the children of a process; none when it is gone.
func childrenOf(pid int) (pids []int) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return nil
	}
	for _, thread := range threads {
		text, err := os.ReadFile(tasks + thread.Name() + "/children")
		if err != nil {
			continue // it has ended meanwhile
		}
		for _, field := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}
