package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// TTY is a terminal that gives every key as it is pressed. Close gives the terminal back.
type TTY struct {
	in, out *os.File

	mu     sync.Mutex
	before *term.State // how the terminal was; nil when it is given back
}

const (
	pastesOn  = "\x1b[?2004h"
	pastesOff = "\x1b[?2004l\x1b[?25h"
	settleMs  = 40 // how long the rest of a key may take to come
)

// IsTerminal reports whether a file is one.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Open takes the terminal over.
func Open(in, out *os.File) (*TTY, error) {
	t := &TTY{in: in, out: out}
	return t, t.take()
}

func (t *TTY) take() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("take the terminal over: %w", err)
	}
	t.before = before
	_, err = t.out.WriteString(pastesOn)
	return err
}

// Close gives the terminal back as it was found. It may be called often, and by anybody.
func (t *TTY) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.before == nil {
		return nil
	}
	_, err := t.out.WriteString(pastesOff)
	err = errors.Join(err, term.Restore(int(t.in.Fd()), t.before))
	t.before = nil
	return err
}

// Guard runs something that may panic: the terminal is given back before the panic is told.
func (t *TTY) Guard(run func()) {
	done := false
	defer func() {
		if !done {
			_ = t.Close() // the panic goes on, and says more
		}
	}()
	run()
	done = true
}

// Suspend gives the terminal back, stops this program until somebody wants it again, and takes the terminal over anew.
func (t *TTY) Suspend() error {
	if err := t.Close(); err != nil {
		return err
	}
	if err := unix.Kill(0, unix.SIGSTOP); err != nil { // the whole group, as Ctrl-Z does
		return fmt.Errorf("suspend: %w", err)
	}
	return t.take()
}

// Size is how many columns and rows there are.
func (t *TTY) Size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(t.out.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// Read hands every key to press, on this goroutine, until ctx ends (it then returns nil) or there is no more to read
// (io.EOF).
func (t *TTY) Read(ctx context.Context, press func(Key)) error {
	wake, waker, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("read keys: %w", err)
	}
	defer func() { _ = wake.Close() }()
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = waker.Close() // the other end becomes readable
		close(woken)
	})
	defer func() {
		if stop() {
			_ = waker.Close()
		} else {
			<-woken
		}
	}()
	fds := []unix.PollFd{{Fd: int32(t.in.Fd()), Events: unix.POLLIN}, {Fd: int32(wake.Fd()), Events: unix.POLLIN}} //nolint:gosec // descriptors are small
	var keys decoder
	buffer := make([]byte, 64<<10)
	for ctx.Err() == nil {
		patience := -1
		if len(keys.rest) > 0 && !keys.pasting {
			patience = settleMs
		}
		n, err := unix.Poll(fds, patience)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("wait for keys: %w", err)
		case n == 0:
			hand(keys.settle(), press)
			continue
		case fds[0].Revents == 0:
			continue // woken: ctx has ended
		}
		got, err := t.in.Read(buffer)
		if got == 0 || err != nil {
			return io.EOF // the terminal went away
		}
		hand(keys.feed(buffer[:got]), press)
	}
	return nil
}

func hand(keys []Key, press func(Key)) {
	for _, k := range keys {
		press(k)
	}
}
