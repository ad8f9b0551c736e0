// Package process starts programs of others so that nothing of them is left behind, and nothing that they should
// not see exists for them.
//
// A program runs under a warden: our own executable started again, which does nothing but watch. The warden stands
// outside the walls, adopts every orphan of the program's tree (it is a child subreaper), and ends the whole tree
// when the program ends, when it is told to, or when the host is gone, even by SIGKILL: the host holds the only
// write end of a pipe that the warden reads. The walls are a Landlock domain that the program and all its
// descendants are born into. It governs files, signals and Unix sockets; it does not govern the network (Isolation
// does), nor metadata of files (stat, chmod).
//
// Linux only. Whatever program imports this package can be started as a warden: that is settled before its main begins.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Walls are the files that exist for a program. Entries are absolute paths of files or directories; a directory
// means everything below it. Symbolic links are followed when the walls are built. The program's own executable
// is always readable.
type Walls struct {
	Read  []string // may be read and executed; entries that do not exist are skipped
	Write []string // may also be written, made, renamed and removed; an entry that does not exist is an error

	// Sockets lets the program make Unix sockets, and so reach every service that listens on one: before Landlock
	// ABI 9 nothing else stands in the way of a session bus that runs what it is told.
	Sockets bool
}

// Spec says what to start.
type Spec struct {
	Path string   // the executable; a bare name is looked up in the host's PATH
	Args []string // without the program's name
	Env  []string // the whole environment, KEY=value; nothing is inherited
	Dir  string   // the working directory, which must exist

	// Walls confine the program and all its descendants; nil leaves them free. Where the kernel cannot confine,
	// walls make Start fail.
	Walls *Walls

	// Isolation keeps the program and all its descendants from the network; Isolable finds one that works here.
	Isolation Isolation

	// Stderr gets what the program writes there, line by line, from one goroutine; it must not block for long.
	// A line is cut after 4 KiB. Nil drops everything.
	Stderr func(line string)
}

// Process is a program that was started. Its owner must call Stop, also when the program ended by itself.
type Process struct {
	stdin   *os.File
	stdout  *os.File
	command *os.File // the lifeline: orders to the warden; its end is the tree's end
	warden  *os.Process
	pid     int // of the program; also its process group

	done chan struct{} // closed by watch, after err is set
	err  error

	stop    sync.Once
	stopErr error
}

// Start starts the program and returns when it runs. ctx bounds the start only; a program that runs is ended by
// Stop. The error names the command: a missing executable, a working directory that is not there and walls that
// the kernel refuses are errors here, never later.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if ctx.Err() != nil { // it would run until somebody noticed
		return nil, fmt.Errorf("start %s: %w", spec.Path, context.Cause(ctx))
	}
	o, err := orderFor(spec)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	p, files, err := spawnWarden()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	if err := p.handshake(ctx, o, files.status); err != nil {
		p.abandon(files)
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	go p.watch(files, spec.Stderr)
	return p, nil
}

// orderFor checks the spec, and turns it into the warden's order.
func orderFor(spec Spec) (order, error) {
	path, err := exec.LookPath(spec.Path)
	if err != nil {
		var ee *exec.Error
		if errors.As(err, &ee) {
			err = ee.Err // the path is named by the caller already
		}
		return order{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return order{}, err
	}
	for _, text := range append([]string{path, spec.Dir}, append(spec.Args, spec.Env...)...) {
		if strings.IndexByte(text, 0) >= 0 {
			return order{}, errors.New("an argument, a variable or a path holds a zero byte")
		}
	}
	if info, err := os.Stat(spec.Dir); err != nil {
		return order{}, fmt.Errorf("working directory: %w", err)
	} else if !info.IsDir() {
		return order{}, fmt.Errorf("working directory %s: not a directory", spec.Dir)
	}
	o := order{Path: []byte(path), Args: raw(spec.Args), Env: raw(spec.Env), Dir: []byte(spec.Dir), Isolation: spec.Isolation}
	if spec.Walls != nil {
		if _, err := Confinable(); err != nil {
			return order{}, err
		}
		o.Confine, o.Sockets = true, spec.Walls.Sockets
		o.Read = raw(append([]string{path}, spec.Walls.Read...))
		o.Write = raw(spec.Walls.Write)
	}
	return o, nil
}

// ends are the host's read ends that watch owns.
type ends struct{ stderr, status *os.File }

// spawnWarden starts the warden without an order. It is our own running image, also when the file on disk was
// replaced meanwhile, in a session of its own: no terminal, and no Ctrl-C meant for the host.
func spawnWarden() (*Process, ends, error) {
	var ours, theirs []*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			_ = f.Close()
		}
	}
	for fd := range wardenFiles {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(append(ours, theirs...))
			return nil, ends{}, fmt.Errorf("make pipes: %w", err)
		}
		if fd == fdStdin || fd == fdCommand {
			r, w = w, r // the child reads these two
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	warden, err := os.StartProcess("/proc/self/exe", []string{wardenName}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{wardenMark + "=1"},
		Files: theirs,
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return nil, ends{}, fmt.Errorf("start the warden: %w", err)
	}
	return &Process{
		stdin: ours[fdStdin], stdout: ours[fdStdout], command: ours[fdCommand],
		warden: warden, done: make(chan struct{}),
	}, ends{stderr: ours[fdStderr], status: ours[fdStatus]}, nil
}

// handshake gives the order and waits until the program runs.
func (p *Process) handshake(ctx context.Context, o order, status *os.File) error {
	stop := context.AfterFunc(ctx, func() {
		past := time.Unix(1, 0)
		_ = p.command.SetWriteDeadline(past)
		_ = status.SetReadDeadline(past)
	})
	defer stop()
	err := send(p.command, o)
	var first report
	if err == nil {
		first, err = receive(status)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("the warden did not answer: %w", err)
	case first.Error != "":
		return errors.New(first.Error)
	case first.Started <= 0:
		return errors.New("the warden did not say what it started")
	}
	p.pid = first.Started
	return nil
}

// abandon ends a warden that did not get as far as a running program that we know of.
func (p *Process) abandon(files ends) {
	for _, f := range []*os.File{p.command, p.stdin, p.stdout, files.stderr} {
		_ = f.Close()
	}
	// Without its lifeline it ends by itself, and whatever it may have started with it.
	late := time.AfterFunc(lifelineGrace+killPatience, func() { _ = p.warden.Kill() })
	_, _ = p.warden.Wait()
	late.Stop()
	_ = files.status.Close()
}

// PID is the process id of the program, for logs.
func (p *Process) PID() int { return p.pid }

// Stdin is the write end of the program's standard input. It takes write deadlines.
func (p *Process) Stdin() *os.File { return p.stdin }

// Stdout is the read end of the program's standard output. It takes read deadlines, and Stop closes it.
func (p *Process) Stdout() *os.File { return p.stdout }

// Done is closed when the program and all its descendants are gone, so that nothing holds its pipes any more:
// what is left in Stdout can be read up to the end without blocking.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the program ended: nil for exit status 0, else an [Exit] or what happened to the warden. It is
// meaningful only after Done.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}
