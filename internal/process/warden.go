package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Both mark a warden: its name and a variable, so that neither a user nor a link can become one by accident.
const (
	wardenName = "familiar-warden"
	gateName   = "familiar-gate"
	wardenMark = "FAMILIAR_WARDEN"
)

// init makes this process a warden, or the gate that a confined program goes through, where it was started as one; then it
// does that work and exits. It is no call of main, because each agent costs two such starts: packages are set up in the order
// of their import paths as soon as what they import is there (the Go specification, "Program initialization"), this one long
// before most libraries, and half of a start is theirs.
func init() {
	if len(os.Args) != 1 || os.Getenv(wardenMark) == "" {
		return
	}
	switch os.Args[0] { // syscall.Exit does nothing of what os.Exit does for a whole program
	case wardenName:
		syscall.Exit(keepWatch())
	case gateName:
		syscall.Exit(passGate())
	}
}

// keepWatch is the warden's whole life. Its exit status is read by nobody.
func keepWatch() int {
	status := os.NewFile(fdStatus, "status")
	if err := closeStray(); err != nil {
		_ = send(status, report{Error: err.Error()})
		return 1
	}
	// Caught, not ignored: an ignored signal would stay ignored in the program.
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)

	orders := bufio.NewReaderSize(io.LimitReader(os.NewFile(fdCommand, "command"), maxOrder), 4<<10)
	first, err := nextOrder(orders)
	if err != nil {
		return 1 // the host is gone
	}
	pid, err := begin(first)
	if err != nil {
		_ = send(status, report{Error: err.Error()})
		return 1
	}
	_ = send(status, report{Started: pid})
	t := &tree{main: pid, status: status, children: children}
	t.end(t.await(orders, signals))
	return 0
}

// nextOrder reads one order.
func nextOrder(from *bufio.Reader) (order, error) {
	var o order
	line, err := from.ReadBytes('\n')
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(line, &o)
}

// closeStray closes what the host itself inherited and passed on without knowing, and keeps the warden's own two
// from the program. Files with the close-on-exec flag are the runtime's.
func closeStray() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list open files: %w", err)
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < fdCommand {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		if fd >= wardenFiles {
			_ = unix.Close(fd)
			continue
		}
		unix.CloseOnExec(fd)
	}
	return nil
}

// begin starts the program from a thread that lives as long as the warden: the kernel kills the program when the
// thread that started it ends.
func begin(o order) (int, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("become subreaper: %w", err)
	}
	launch := execute
	if o.Confine {
		launch = throughGate
	}
	type result struct {
		pid int
		err error
	}
	born := make(chan result)
	go func() {
		runtime.LockOSThread()
		pid, err := launch(o)
		born <- result{pid, err}
		select {}
	}()
	r := <-born
	if r.err != nil {
		return 0, r.err
	}
	return r.pid, letGo()
}

// execute starts the program itself.
func execute(o order) (int, error) {
	pid, err := syscall.ForkExec(string(o.Path), o.argv(), &syscall.ProcAttr{
		Dir:   string(o.Dir),
		Env:   cooked(o.Env),
		Files: []uintptr{fdStdin, fdStdout, fdStderr},
		Sys:   attended(o),
	})
	if err != nil {
		return 0, fmt.Errorf("execute: %w", err)
	}
	return pid, nil
}

// attended is how every child of the warden is born: in a group of its own, and not to outlive it.
func attended(o order) *syscall.SysProcAttr {
	return o.Isolation.apply(&syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL})
}

// letGo gives up the program's pipes, so that their ends mean what they should.
func letGo() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	for fd := fdStdin; fd <= fdStderr; fd++ {
		if err := unix.Dup3(int(null.Fd()), fd, 0); err != nil {
			return fmt.Errorf("let go of file %d: %w", fd, err)
		}
	}
	return nil
}

// await returns when the tree has to end, with the grace that it gets.
func (t *tree) await(orders *bufio.Reader, signals <-chan os.Signal) time.Duration {
	told := make(chan time.Duration, 1)
	go func() { // ends with the process
		o, err := nextOrder(orders)
		for err == nil && !o.Stop {
			o, err = nextOrder(orders)
		}
		if err != nil {
			told <- lifelineGrace
			return
		}
		told <- time.Duration(o.TermMs) * time.Millisecond
	}()
	for {
		select {
		case <-t.children:
			if t.reap(); t.ended {
				return leftoverGrace
			}
		case grace := <-told:
			return grace
		case s := <-signals:
			if s == syscall.SIGTERM {
				return lifelineGrace
			}
		}
	}
}

// gone reports whether err says that there is no child left.
func gone(err error) bool { return errors.Is(err, unix.ECHILD) }
