package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settle is how long a program that is ready is left alone before its held is read, so that what only the start
// needed is given back.
const settle = 2 * time.Second

// patience bounds one start, and one end, of a program.
const patience = 30 * time.Second

// started is what the starts came to.
type started struct {
	fresh, used, trivial []time.Duration
	rss, least           held // of the program and of the trivial one, idle
}

// held is what the system says a process holds, in MiB; anon is what belongs to it alone, the rest are pages of
// its own binary that are in the page cache anyway.
type held struct{ rss, anon float64 }

// start starts the programs in turn, so that a change of the machine's load meets all of them.
func start(ctx context.Context, dir, product, trivial string, times int) (s started, err error) {
	used := filepath.Join(dir, "used")
	up := func(at string) []string { return []string{product, "up", "--dir", at, "--port", "0", "--no-open"} }
	if _, _, err := once(ctx, up(used), nil); err != nil { // makes the directory, and warms the disk
		return s, err
	}
	for i := range times {
		fresh := filepath.Join(dir, "fresh-"+strconv.Itoa(i))
		last := i == times-1
		for _, one := range []struct {
			args  []string
			took  *[]time.Duration
			holds *held
		}{{[]string{trivial}, &s.trivial, &s.least}, {up(fresh), &s.fresh, nil}, {up(used), &s.used, &s.rss}} {
			rest := atOnce
			if !last || one.holds == nil {
				rest = nil
			}
			took, holds, err := once(ctx, one.args, rest)
			if err != nil {
				return s, err
			}
			*one.took = append(*one.took, took)
			if rest != nil {
				*one.holds = holds
			}
		}
	}
	return s, nil
}

// atOnce is the rest of a program that rests when it is ready.
func atOnce(context.Context) error { return nil }

// once starts a program, waits for its line «ready», and ends it. Where rest is not nil it waits for that too, and then
// reads what the program holds when it is idle.
func once(ctx context.Context, args []string, rest func(context.Context) error) (took time.Duration, holds held, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // both programs were built here
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Dir(args[0])}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 0, holds, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, holds, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, holds, err
	}
	out := bufio.NewReader(stdout)
	err = ready(out)
	took = time.Since(began)
	if err == nil && rest != nil {
		if err = rest(ctx); err == nil {
			holds, err = idle(ctx, cmd.Process.Pid)
		}
	}
	err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM))
	_, _ = io.Copy(io.Discard, out) // the rest of its output ends with it
	_ = stdin.Close()
	if failed := cmd.Wait(); failed != nil && !terminated(cmd) {
		err = errors.Join(err, failed)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", filepath.Base(args[0]), err, complaint.String())
	}
	return took, holds, err
}

// ready reads until the line that says so.
func ready(out *bufio.Reader) error {
	for {
		line, err := out.ReadString('\n')
		if strings.Contains(line, "ready") {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it never said that it is ready: %w", err)
		}
	}
}

// terminated reports whether a program ended of the signal that we sent.
func terminated(cmd *exec.Cmd) bool {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}

// idle leaves a process alone for a while and reads what it holds then.
func idle(ctx context.Context, pid int) (m held, err error) {
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return m, ctx.Err()
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return m, err
	}
	for line := range strings.Lines(string(status)) {
		var into *float64
		switch {
		case strings.HasPrefix(line, "VmRSS:"):
			into = &m.rss
		case strings.HasPrefix(line, "RssAnon:"):
			into = &m.anon
		default:
			continue
		}
		kib, err := strconv.ParseFloat(strings.Fields(line)[1], 64)
		if err != nil {
			return m, fmt.Errorf("%q: %w", line, err)
		}
		*into = kib / 1024
	}
	return m, nil
}

// rows adds what was found.
func (s started) rows(t *table) {
	base := quantile(s.trivial, 0.5)
	for _, one := range []struct {
		what string
		took []time.Duration
	}{{"up to ready, used directory", s.used}, {"up to ready, fresh directory", s.fresh}} {
		got := quantile(one.took, 0.5)
		t.add(row{what: one.what, unit: "ms", got: ms(got), spread: spread(one.took), budget: 60,
			base: against("a program that prints a line", ms(base), ms(got), "ms") + " " + spread(s.trivial)})
	}
	t.add(row{what: "idle memory", unit: "MiB", got: s.rss.rss, spread: fmt.Sprintf("(%.1f of it its own)", s.rss.anon), budget: 25,
		base: against("a program that does nothing", s.least.rss, s.rss.rss, "MiB")})
}
