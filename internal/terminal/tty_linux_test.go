package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair opens a terminal: what a person types into, and what a program sees.
func pair(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close(); program.Close() })
	return person, program
}

func modes(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

func open(t *testing.T, f *os.File) *TTY {
	t.Helper()
	tty, err := Open(f, f)
	if err != nil {
		t.Fatal(err)
	}
	return tty
}

// BUG-G13: the terminal is given back as it was found.
func TestTheTerminalIsGivenBack(t *testing.T) {
	_, program := pair(t)
	before := modes(t, program)
	tty := open(t, program)
	if modes(t, program).Lflag&(unix.ECHO|unix.ICANON|unix.ISIG) != 0 {
		t.Error("keys do not come as they are pressed")
	}
	for range 2 {
		if err := tty.Close(); err != nil || modes(t, program) != before {
			t.Errorf("%v; modes %+v, were %+v", err, modes(t, program), before)
		}
	}
}

// BUG-G13: also when something panics, before the panic is told.
func TestTheTerminalIsGivenBackInAPanic(t *testing.T) {
	_, program := pair(t)
	before := modes(t, program)
	tty := open(t, program)
	func() {
		defer func() {
			if recover() == nil || modes(t, program) != before {
				t.Errorf("modes %+v, were %+v", modes(t, program), before)
			}
		}()
		tty.Guard(func() { panic("on purpose") })
	}()
	tty = open(t, program)
	tty.Guard(func() {})
	if modes(t, program) == before {
		t.Error("given back without need")
	}
	if err := tty.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadingKeys(t *testing.T) {
	person, program := pair(t)
	tty := open(t, program)
	ctx, cancel := context.WithCancel(t.Context())
	keys, ended := make(chan Key, 10), make(chan error, 1)
	go func() { ended <- tty.Read(ctx, func(k Key) { keys <- k }) }()
	for input, want := range map[string]Key{"烏": typed("烏"), "\x1b[A": {Code: Up}, "\x1b": {Code: Escape}, "\x1a": {Code: Suspend}} {
		if _, err := person.WriteString(input); err != nil {
			t.Fatal(err)
		}
		if got := <-keys; got != want {
			t.Errorf("%q: %v, want %v", input, got, want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	go func() { ended <- tty.Read(t.Context(), func(Key) {}) }()
	if err := person.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("after the terminal went away: %v", err)
	}
}

func TestSize(t *testing.T) {
	_, program := pair(t)
	tty := &TTY{out: program}
	if columns, rows := tty.Size(); columns != 80 || rows != 24 {
		t.Errorf("of unknown size: %d, %d", columns, rows)
	}
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 120}); err != nil {
		t.Fatal(err)
	}
	if columns, rows := tty.Size(); columns != 120 || rows != 50 {
		t.Errorf("%d, %d", columns, rows)
	}
}
