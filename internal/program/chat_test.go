package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"familiar/internal/agent/script"
)

// sitting is somebody at a terminal in which the program runs.
type sitting struct {
	t       *testing.T
	person  *os.File
	program *os.File
	before  unix.Termios
	cmd     *exec.Cmd
	seen    *buffer
	from    int // what was seen before is not looked at again
	read    chan struct{}
}

// sit starts the chat in a terminal of 80 columns.
func (b *bot) sit(args ...string) *sitting {
	b.t.Helper()
	s := &sitting{t: b.t, seen: &buffer{}, read: make(chan struct{})}
	s.open()
	s.cmd = b.command(append([]string{"chat", "--dir", b.dir}, args...)...)
	s.cmd.Env = append(s.cmd.Env, "TERM=xterm")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.program, s.program, s.program
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	go func() {
		defer close(s.read)
		_, _ = io.Copy(s.seen, s.person) // it ends with an error when the terminal goes away
	}()
	b.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		_ = s.program.Close()
		_ = s.person.Close()
		<-s.read
		if b.t.Failed() {
			shown := s.seen.String()
			b.t.Logf("the terminal showed, at last:\n%q", shown[max(0, len(shown)-2000):])
		}
	})
	return s
}

func (s *sitting) open() {
	s.t.Helper()
	var err error
	if s.person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		s.t.Skip("no terminals here:", err)
	}
	conn, err := s.person.SyscallConn() // Fd would make reads of it block for ever
	if err != nil {
		s.t.Fatal(err)
	}
	number := 0
	control := func(fd uintptr) {
		number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		err = errors.Join(err, unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	}
	if failed := conn.Control(control); failed != nil || err != nil {
		s.t.Fatal(failed, err)
	}
	if s.program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		s.t.Fatal(err)
	}
	s.before = s.modes()
}

func (s *sitting) modes() unix.Termios {
	s.t.Helper()
	m, err := unix.IoctlGetTermios(int(s.program.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *m
}

// types waits until something is shown and then presses keys.
func (s *sitting) types(keys string) {
	s.t.Helper()
	if _, err := s.person.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// sees waits until all of the words have been shown, after what was seen before.
func (s *sitting) sees(words ...string) {
	s.t.Helper()
	wait(s.t, fmt.Sprintf("%q is shown", words), func() bool {
		shown := s.seen.String()[s.from:]
		for _, w := range words {
			if !strings.Contains(shown, w) {
				return false
			}
		}
		return true
	})
	s.from = len(s.seen.String())
}

// leaves waits for the end, and checks that the terminal is as it was.
func (s *sitting) leaves() {
	s.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			s.t.Error("the chat ended with", err)
		}
	case <-time.After(patience):
		s.t.Fatal("the chat never ended")
	}
	if after := s.modes(); after != s.before {
		s.t.Errorf("BUG-G13: the terminal is left as %+v, it was %+v", after, s.before)
	}
	wait(s.t, "the terminal is told", func() bool { return strings.HasSuffix(s.seen.String(), "\x1b[?2004l\x1b[?25h") })
}

func TestChat(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{Steps: []script.Step{reply("Hi **there**, 烏龍茶")}}))
	b.start()
	s := b.sit()
	s.sees("Mochi", "Ctrl-D leaves")
	s.types("hello\r")
	s.sees("hello", "Thinking", "Hi \x1b[1mthere\x1b[0m, 烏龍茶")
	s.types("my key is sk-abcdefghijklmnopqrstuv\r")
	s.sees("there")
	s.types("/st")
	s.sees("> /stop", "/status")
	s.types("\x1b[B\t")
	s.sees("/status")
	s.types("\r")
	s.sees("Agent: ")
	s.types("\x1b[200~one\rtwo\x1b[201~\\\r")
	s.sees("one", "two")
	s.types("three\r")
	s.sees("three", "there")
	s.types("\x04")
	s.leaves()

	path := filepath.Join(b.dir, "state", "chat.history")
	kept, err := os.ReadFile(path)
	if err != nil || string(kept) != "\"hello\"\n\"/status\"\n\"one\\ntwo\\nthree\"\n" {
		t.Errorf("kept %s, %v", kept, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}

	// The next chat goes on with that conversation, and knows what was written.
	s = b.sit()
	s.sees("hello", "there", "three")
	s.types("\x1b[A\x1b[A\x1b[A\x1b[A")
	s.sees("/status")
	s.types("\x15\x04")
	s.leaves()
	s = b.sit("--new")
	s.sees("Ctrl-D leaves")
	if strings.Contains(s.seen.String(), "hello") {
		t.Error("a new conversation shows an old one")
	}
	s.types("\x03")
	s.sees("Press Ctrl-C again")
	s.types("\x03")
	s.leaves()
}

func TestStoppingATurnInAChat(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{Steps: []script.Step{{Wait: true}}}))
	b.start()
	s := b.sit()
	s.types("hello\r")
	s.sees("Thinking")
	s.types("\x03")
	s.sees("Stopped.")
	s.types("again\r")
	s.sees("Thinking")
	s.types("\x03\x03") // the second leaves, whatever the turn does
	s.leaves()
}

// BUG-G13: a chat that is told to end gives the terminal back.
func TestSignalsEndAChat(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{Steps: []script.Step{{Wait: true}}}))
	b.start()
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		s := b.sit("--new")
		s.types("hello\r")
		s.sees("Thinking")
		if err := s.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		s.leaves()
	}
}

// A bot that is started anew, even at another address, is found again, and gets what was written meanwhile, once.
func TestAChatOutlivesItsBot(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{Steps: []script.Step{reply("hi")}}))
	b.start()
	s := b.sit()
	s.types("one\r")
	s.sees("  hi")
	b.kill()
	s.sees("The bot cannot be reached")
	s.types("two\r")
	s.sees("Sending")
	b.start()
	s.sees("The bot is back", "  hi")
	s.types("three\r")
	s.sees("three", "  hi")
	s.types("\x04")
	s.leaves()
	if n := strings.Count(b.audit(), `"message.received"`); n > 3 {
		t.Errorf("%d messages were heard", n)
	}
}

func TestAChatSaysWhyATurnFailed(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{Steps: []script.Step{{Fail: "401 invalid x-api-key"}}}))
	b.start()
	s := b.sit()
	s.types("hello\r")
	s.sees("Sorry, something went wrong", "This turn ended with an error", "401 invalid x-api-key", "logs/familiar.log")
	s.types("\x04")
	s.leaves()
	if code, _, errs := b.run("say", "--dir", b.dir, "hello"); code != 1 || !strings.Contains(errs, "401 invalid x-api-key") {
		t.Error(code, errs)
	}
}

func TestAChatFromAPipe(t *testing.T) {
	b := newBot(t, scripted(t, script.Turn{On: "fail please", Steps: []script.Step{{Fail: "broken"}}},
		script.Turn{Steps: []script.Step{reply("**hi**")}}))
	b.start()
	chat := func(in string, args ...string) (int, string, string) {
		t.Helper()
		b.in = in
		defer func() { b.in = "" }()
		return b.run(append([]string{"chat", "--dir", b.dir}, args...)...)
	}
	if code, out, errs := chat("one\n\ntwo \\\nmore\n/clear\nthree"); code != 0 || out != "**hi**\n**hi**\n**hi**\n" || errs != "" {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if code, out, errs := chat("fail please\n/status\n"); code != 1 || !strings.Contains(out, "Agent") || !strings.Contains(errs, "broken") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if code, _, errs := chat("x\n", "--session", "s_"+strings.Repeat("0", 32)); code != 1 || !strings.Contains(errs, "no such session") {
		t.Errorf("%d %q", code, errs)
	}
	if code, _, errs := chat("x\n", "--session", "a", "--new"); code != 2 || !strings.Contains(errs, "--new") {
		t.Errorf("%d %q", code, errs)
	}
	if code := b.stop(); code != 0 {
		t.Error("exit", code)
	}
	if code, _, errs := chat("x\n"); code != 1 || !strings.Contains(errs, "familiar up") {
		t.Errorf("%d %q", code, errs)
	}
}
