package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"familiar/internal/agent/script"
	"familiar/internal/control"
	"familiar/internal/secret"
)

// crowd is how many sessions are prompted at once.
const crowd = 100

// measureCrowd prompts many sessions of the program at once, each with an agent in a process of its own, and adds
// how long it takes until all are answered and what the program holds at its worst.
func measureCrowd(ctx context.Context, dir string, p programs, t *table) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 4*patience)
	defer cancel()
	at := filepath.Join(dir, "crowd")
	if err := crowdConfig(at, p.scripted); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.product, "up", "--dir", at, "--port", "0", "--no-open") //nolint:gosec // it was built here
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var reading sync.WaitGroup
	defer func() {
		err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM))
		reading.Wait()
		_ = cmd.Wait() // its end was asked for
	}()
	lines := bufio.NewReader(out)
	if err := ready(lines); err != nil {
		return err
	}
	reading.Go(func() { _, _ = lines.WriteTo(nowhere{}) }) // its log must not fill the pipe
	took, err := ask(ctx, at)
	if err != nil {
		return err
	}
	most, err := peak(cmd.Process.Pid)
	if err != nil {
		return err
	}
	base, err := together(ctx, p.trivial)
	if err != nil {
		return err
	}
	t.add(row{what: fmt.Sprintf("%d sessions at once, all answered", crowd), unit: "ms", got: ms(took), budget: 1000,
		base: against(fmt.Sprintf("%d programs that do nothing", crowd), ms(base), ms(took), "ms")})
	t.add(row{what: fmt.Sprintf("memory of the host with %d agents", crowd), unit: "MiB", got: most, budget: 45, base: "its agents and their wardens not counted"})
	return nil
}

// nowhere takes everything.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// crowdConfig writes the configuration of a bot whose agent is the scripted one.
func crowdConfig(dir, agent string) error {
	env, err := script.Environment(script.Script{Turns: []script.Turn{{Steps: []script.Step{
		{Call: "send-reply", Args: json.RawMessage(`{"message":"Here I am."}`)}}}}})
	if err != nil {
		return err
	}
	type process struct {
		Command      string            `json:"command"`
		Env          map[string]string `json:"env"`
		MaxProcesses int               `json:"maxProcesses"`
		WarmSpare    int               `json:"warmSpare"`
	}
	text, err := json.Marshal(struct {
		Version int     `json:"version"`
		Agent   process `json:"agent"`
	}{1, process{agent, env, crowd, 0}})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.yaml"), text, 0o600)
}

// ask says something in as many sessions as there are, at once, and returns how long it took until each was answered.
func ask(ctx context.Context, dir string) (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(dir, "state", "token"))
	if err != nil {
		return 0, err
	}
	pid, err := os.ReadFile(filepath.Join(dir, "state", "familiar.pid"))
	if err != nil {
		return 0, err
	}
	client := control.New(strings.Fields(string(pid))[1], secret.New(string(text)))
	errs := make([]error, crowd)
	var all sync.WaitGroup
	began := time.Now()
	for i := range crowd {
		all.Go(func() {
			if reply, err := client.Say(ctx, "", "Are you there?"); err != nil || reply.Text != "Here I am." {
				errs[i] = fmt.Errorf("session %d: %q: %w", i, reply.Text, err)
			}
		})
	}
	all.Wait()
	return time.Since(began), errors.Join(errs...)
}

// peak is the most that a process ever held, in MiB.
func peak(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			kib, err := strconv.ParseFloat(strings.Fields(line)[1], 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("the system does not say what a process held at the most")
}

// together starts a program as many times at once and waits for all.
func together(ctx context.Context, program string) (time.Duration, error) {
	errs := make([]error, crowd)
	var all sync.WaitGroup
	began := time.Now()
	for i := range crowd {
		all.Go(func() { errs[i] = exec.CommandContext(ctx, program).Run() }) //nolint:gosec // it was built here
	}
	all.Wait()
	return time.Since(began), errors.Join(errs...)
}
