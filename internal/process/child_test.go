package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"familiar/internal/process"
)

// TestMain makes the test's own executable the programs that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		syscall.Exit(child(os.Args[2], os.Args[3:])) // without the pause of the race detector
	}
	goleak.VerifyTestMain(m)
}

func child(what string, args []string) int {
	switch what {
	case "exit":
		n, _ := strconv.Atoi(args[0])
		return n
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "cat":
		io.Copy(os.Stdout, os.Stdin)
	case "files":
		entries, _ := os.ReadDir("/proc/self/fd")
		for _, e := range entries {
			target, err := os.Readlink("/proc/self/fd/" + e.Name())
			if err == nil {
				fmt.Println(e.Name(), target)
			}
		}
	case "flood":
		n, _ := strconv.Atoi(args[0])
		os.Stderr.WriteString(strings.Repeat("x", n) + "\nshort\r\nlast")
	case "parent": // starts args as a grandchild in a session of its own, says its pid, then waits or exits
		return parent(args[0], args[1:])
	case "stubborn": // ignores everything that can be ignored, and holds its stdout
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("stubborn", os.Getpid())
		time.Sleep(time.Hour)
	case "host":
		return host(args)
	case "try":
		for _, a := range args {
			fmt.Println(result(try(strings.Split(a, "|"))))
		}
	}
	return 0
}

func parent(then string, args []string) int {
	cmd := exec.Command(os.Args[0], append([]string{"child"}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	switch then {
	case "wait":
		cmd.Wait()
	case "linger": // ends on SIGTERM or a closed stdin only if the kernel makes it
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Hour)
	case "leave": // the grandchild says that it runs before we go
		io.ReadFull(os.Stdin, make([]byte, 1))
	}
	return 0
}

// host is a host process that can be killed: it starts args under a warden and says what the program says.
func host(args []string) int {
	p, err := process.Start(context.Background(), process.Spec{
		Path: os.Args[0], Args: append([]string{"child"}, args...), Dir: "/",
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("program", p.PID())
	in := bufio.NewScanner(p.Stdout())
	for in.Scan() {
		fmt.Println(in.Text())
	}
	return 0
}

// try does one thing with files or processes.
func try(words []string) error {
	switch words[0] {
	case "read":
		text, err := os.ReadFile(words[1])
		if err == nil && len(text) == 0 {
			return errors.New("empty")
		}
		return err
	case "list":
		_, err := os.ReadDir(words[1])
		return err
	case "readlink":
		_, err := os.Readlink(words[1])
		return err
	case "write":
		return os.WriteFile(words[1], []byte("x"), 0o600)
	case "truncate":
		return os.Truncate(words[1], 0)
	case "mkdir":
		return os.Mkdir(words[1], 0o700)
	case "remove":
		return os.Remove(words[1])
	case "rename":
		return os.Rename(words[1], words[2])
	case "link":
		return os.Link(words[1], words[2])
	case "symlink":
		return os.Symlink(words[1], words[2])
	case "mknod":
		return syscall.Mknod(words[1], syscall.S_IFCHR|0o600, 1<<8|3)
	case "connect":
		conn, err := net.Dial(words[1], words[2])
		if err == nil {
			conn.Close()
		}
		return err
	case "socketpair":
		_, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		return err
	case "uring":
		_, _, errno := syscall.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
		return errno
	case "kill":
		pid, _ := strconv.Atoi(words[1])
		return syscall.Kill(pid, 0)
	case "killparent": // and each of its threads
		parent := os.Getppid()
		threads, err := os.ReadDir("/proc/" + strconv.Itoa(parent) + "/task")
		for _, thread := range threads {
			id, _ := strconv.Atoi(thread.Name())
			if err = unix.Tgkill(parent, id, 0); err == nil {
				return nil
			}
			if traced := unix.PtraceAttach(id); traced == nil {
				return errors.New("traced the warden")
			}
		}
		if err != nil {
			return err
		}
		return syscall.Kill(parent, 0)
	case "exec":
		return exec.Command(words[1], words[2:]...).Run()
	case "below": // the rest, in a grandchild
		out, err := exec.Command(os.Args[0], "child", "try", strings.Join(words[1:], "|")).Output()
		if err != nil {
			return err
		}
		if text := strings.TrimSpace(string(out)); text != "ok" {
			return errors.New(text)
		}
		return nil
	}
	return errors.New("unknown")
}

// result is how try went, as a word.
func result(err error) string {
	var no syscall.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &no):
		return unix.ErrnoName(no)
	}
	return strings.ReplaceAll(err.Error(), " ", "_")
}
