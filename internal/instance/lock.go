package instance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Lock holds the directory for one process. The kernel lets go of it when the process ends, however it ends, so
// that a stale file or a number that another program has now never keeps a bot from starting.
type Lock struct{ file *os.File }

// Running is a process that holds a directory.
type Running struct {
	PID int
	URL string // the base address of its listener; "" while it starts
}

// ErrNotRunning says that no process holds the directory.
var ErrNotRunning = errors.New("the bot is not running")

// Lock makes the directory and takes it; when another process has it, the error names that process.
func (i Instance) Lock() (*Lock, error) {
	if err := i.Create(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(i.pidFile(), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", i.Dir, err)
	}
	if err := take(file); err != nil {
		holder, _ := read(file)
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is in use by process %d; stop it first, or name another directory with --dir", i.Dir, holder.PID)
		}
		return nil, fmt.Errorf("lock %s: %w", i.Dir, err)
	}
	l := &Lock{file}
	if err := errors.Join(file.Chmod(0o600), l.write("")); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// take takes the lock. Somebody who only looks holds it for an instant, so that a lock is not refused at first sight.
func take(file *os.File) error {
	const looks, pause = 10, 10 * time.Millisecond
	for i := 0; ; i++ {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || i == looks {
			return err
		}
		time.Sleep(pause)
	}
}

// SetURL tells other processes where the bot listens.
func (l *Lock) SetURL(url string) error { return l.write(url) }

// write puts two lines into the file: our process, and the address. The file is never replaced, for the lock is
// on the file itself; a reader that comes in between sees a file without an address and asks again.
func (l *Lock) write(url string) error {
	text := []byte(strconv.Itoa(os.Getpid()) + "\n" + url + "\n")
	if _, err := l.file.WriteAt(text, 0); err != nil {
		return fmt.Errorf("write the pid file: %w", err)
	}
	if err := l.file.Truncate(int64(len(text))); err != nil {
		return fmt.Errorf("write the pid file: %w", err)
	}
	return nil
}

// Release lets go of the directory.
func (l *Lock) Release() error { return errors.Join(l.file.Truncate(0), l.file.Close()) }

// Running returns the process that holds the directory, or ErrNotRunning.
func (i Instance) Running() (Running, error) {
	file, err := os.OpenFile(i.pidFile(), os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Running{}, ErrNotRunning
	}
	if err != nil {
		return Running{}, fmt.Errorf("look for a running bot: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		return Running{}, ErrNotRunning
	}
	return read(file)
}

// pidFileMost bounds what is read of a pid file, in bytes.
const pidFileMost = 4096

func read(file *os.File) (Running, error) {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, pidFileMost))
	if err != nil {
		return Running{}, fmt.Errorf("read the pid file: %w", err)
	}
	pid, rest, _ := bytes.Cut(text, []byte("\n"))
	url, _, _ := bytes.Cut(rest, []byte("\n"))
	var r Running
	if r.PID, err = strconv.Atoi(string(pid)); err != nil {
		return Running{}, errors.New("read the pid file: it holds no process; ask again in a moment")
	}
	r.URL = string(url)
	return r, nil
}
