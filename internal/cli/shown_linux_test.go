package cli

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A terminal is not steered by what a bot says, also where there is no screen; a program reads what was said.
func TestWhatIsShownSteersNoTerminal(t *testing.T) {
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	said := "one\x1b]0;title\x07\u009b2J\ntwo\r"
	if got := shown(terminal, said); got != "one]0;title2J\ntwo" {
		t.Errorf("a terminal gets %q", got)
	}
	if got := shown(&bytes.Buffer{}, said); got != said {
		t.Errorf("a program gets %q", got)
	}
}
