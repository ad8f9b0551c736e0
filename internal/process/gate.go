package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// throughGate starts a confined program. Walls close around one thread, and a thread behind them shares the
// memory of the rest: a program could have reached out through such a thread of the warden. So the warden starts
// our executable once more, as the gate, which goes behind the walls and there becomes the program.
func throughGate(o order) (int, error) {
	orderIn, orderOut, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("make pipes: %w", err)
	}
	defer orderOut.Close()
	defer orderIn.Close()
	statusIn, statusOut, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("make pipes: %w", err)
	}
	defer statusIn.Close()
	defer statusOut.Close()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{gateName}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{wardenMark + "=1"},
		Files: []uintptr{fdStdin, fdStdout, fdStderr, orderIn.Fd(), statusOut.Fd()},
		Sys:   attended(o),
	})
	if err != nil {
		return 0, fmt.Errorf("start the gate: %w", err)
	}
	_ = orderIn.Close()
	_ = statusOut.Close()
	err = send(orderOut, o)
	if err == nil {
		err = passed(statusIn)
	}
	if err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, 0, nil)
		return 0, err
	}
	return pid, nil
}

// passed waits until the gate has become the program, which closes its status without a word.
func passed(status *os.File) error {
	r, err := receive(status)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return fmt.Errorf("the gate did not answer: %w", err)
	}
	return errors.New(r.Error)
}

// passGate is the gate's whole life; it returns only when the program could not be started.
func passGate() int {
	status := os.NewFile(fdStatus, "status")
	if err := closeStray(); err != nil {
		_ = send(status, report{Error: err.Error()})
		return 1
	}
	o, err := nextOrder(bufio.NewReader(os.NewFile(fdCommand, "command")))
	if err != nil {
		return 1 // the warden is gone
	}
	_ = send(status, report{Error: become(o).Error()})
	return 1
}

// become goes behind the walls and turns into the program. The thread that does it becomes the only one.
func become(o order) error {
	runtime.LockOSThread()
	if err := unix.Chdir(string(o.Dir)); err != nil {
		return fmt.Errorf("enter %s: %w", o.Dir, err)
	}
	if err := shed(); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if err := confine(Walls{Read: cooked(o.Read), Write: cooked(o.Write), Sockets: o.Sockets}); err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	return fmt.Errorf("execute: %w", syscall.Exec(string(o.Path), o.argv(), cooked(o.Env)))
}
