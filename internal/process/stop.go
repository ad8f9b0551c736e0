package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Grace is how long each way of asking may take. Afterwards the tree is killed, which is a matter of milliseconds.
type Grace struct {
	EOF  time.Duration // after its standard input was closed
	Term time.Duration // after SIGTERM to the whole tree
}

const (
	// leftoverGrace is what the rest of a tree gets after SIGTERM when the program itself is gone.
	leftoverGrace = 250 * time.Millisecond
	// lifelineGrace is what a tree gets after SIGTERM when the host is gone.
	lifelineGrace = time.Second
	// killPatience bounds the wait for a killed tree: only a process stuck in the kernel takes longer.
	killPatience = 3 * time.Second
)

// Exit is how a program ended, when not with status 0.
type Exit struct {
	Code   int            // exit status; -1 when a signal ended it
	Signal syscall.Signal // 0 when it exited by itself
}

func (e Exit) Error() string {
	if e.Signal != 0 {
		return "signal " + unix.SignalName(e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// errWarden says that we lost the warden and killed what we could reach of the tree.
var errWarden = errors.New("its warden is gone")

// Stop ends the program and everything that descends from it, and returns when all of it is gone. It closes
// Stdin, and at last Stdout. Safe to call more than once and from several goroutines: all wait for the first,
// whose grace counts. The error says only that something could not be ended, never how the program ended.
func (p *Process) Stop(g Grace) error {
	p.stop.Do(func() { p.stopErr = p.end(g) })
	return p.stopErr
}

func (p *Process) end(g Grace) error {
	defer p.stdout.Close()
	defer p.command.Close()
	_ = p.stdin.Close()
	if p.ended(g.EOF) {
		return nil
	}
	// The warden may be gone by now, which done will tell.
	_ = send(p.command, order{Stop: true, TermMs: g.Term.Milliseconds()})
	if p.ended(g.Term + killPatience) {
		return nil
	}
	_ = p.warden.Kill()
	if p.ended(killPatience) {
		return fmt.Errorf("stop process %d: the tree did not end in time; its warden was killed", p.pid)
	}
	return fmt.Errorf("stop process %d: it cannot be killed", p.pid)
}

// ended waits for the end, at most for d.
func (p *Process) ended(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

// watch follows the program to its end. It is the only one to write err and close done.
func (p *Process) watch(files ends, line func(string)) {
	defer close(p.done)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		readLines(files.stderr, line)
	}()
	exit, err := awaitExit(files.status)
	if err != nil {
		p.orphaned(files)
	}
	_, _ = p.warden.Wait()
	<-drained
	_ = files.stderr.Close()
	_ = files.status.Close()
	switch {
	case err != nil:
		p.err = err
	case exit != Exit{}:
		p.err = exit
	}
}

// awaitExit reads the warden's reports until it is gone.
func awaitExit(status *os.File) (Exit, error) {
	var exit *Exit
	for {
		r, err := receive(status)
		if err != nil {
			break
		}
		if r.Exited {
			exit = &Exit{Code: r.Code, Signal: syscall.Signal(r.Signal)}
		}
	}
	if exit == nil {
		return Exit{}, errWarden
	}
	return *exit, nil
}

// orphaned cleans up after a warden that died without a word. The kernel kills the program with it; its group is
// ours to kill. What left the group and outlives that can only be kept from blocking us.
func (p *Process) orphaned(files ends) {
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	soon := time.Now().Add(leftoverGrace)
	_ = files.stderr.SetReadDeadline(soon)
	_ = p.stdout.SetReadDeadline(soon)
}
