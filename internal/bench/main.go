// Command bench measures what Familiar costs and prints it beside its budgets: binary, start, idle memory, and the
// way from an event to the agent's prompt. Every figure stands beside a baseline that was taken in the same run,
// because machines differ and are never idle. It asserts nothing; notes.txt says what is measured and how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// plan is how much is measured.
type plan struct {
	starts int // of the program, for each kind of directory
	events int // that are prompted, one at a time

	memories  int  // that are searched
	questions int  // of each kind
	only      bool // the memories, and nothing else

	profile string // where a profile of the prompted events goes, instead of all other figures; "" wants none
}

func main() {
	var p plan
	flag.IntVar(&p.starts, "starts", 15, "how often the program is started in each kind of directory")
	flag.IntVar(&p.events, "events", 2000, "how many events are prompted, one at a time")
	flag.IntVar(&p.memories, "memories", 1_000_000, "how many memories are searched")
	flag.IntVar(&p.questions, "questions", 300, "how many questions of each kind are asked")
	flag.BoolVar(&p.only, "only-memory", false, "measure the memory, and nothing else")
	flag.StringVar(&p.profile, "profile", "", "write a CPU profile of the prompted events to this file, and measure nothing else")
	flag.Parse()
	ctx, leave := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := measure(ctx, p)
	leave()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measure takes the figures and prints them. Everything it makes lies in one temporary directory.
func measure(ctx context.Context, p plan) (err error) {
	if p.starts < 1 || p.events < 1 || p.memories < 1 || p.questions < 1 {
		return errors.New("-starts, -events, -memories and -questions are 1 at least")
	}
	dir, err := os.MkdirTemp("", "familiar-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var t table
	if p.profile == "" {
		if err := measureMemory(ctx, dir, p, &t); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
	}
	if p.only {
		return t.lines(os.Stdout)
	}
	if p.profile == "" {
		if err := measureProgram(ctx, dir, p, &t); err != nil {
			return err
		}
		if err := measureIntake(ctx, dir, posted, &t); err != nil {
			return fmt.Errorf("webhook intake: %w", err)
		}
	}
	w, err := measureWays(ctx, dir, p, &t)
	if err != nil {
		return fmt.Errorf("event to prompt: %w", err)
	}
	return t.print(os.Stdout, facts{plan: p, way: w})
}

// measureWays takes the figures of the way from an event to the prompt: with the bot on the disk of the temporary
// directory, and in memory where the system has room for that.
func measureWays(ctx context.Context, dir string, p plan, t *table) (w way, err error) {
	memory, err := inMemory()
	if err != nil {
		return w, err
	}
	if memory != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(memory)) }()
		if w, err = measureWay(ctx, memory, p); err != nil {
			return w, err
		}
		w.rows(t, "in memory")
		p.profile = "" // one is enough
	}
	if w, err = measureWay(ctx, dir, p); err == nil {
		w.rows(t, "on disk")
	}
	return w, err
}

// measureProgram takes the figures of the binary: its size, its start, its memory when idle, and many sessions at
// once.
func measureProgram(ctx context.Context, dir string, p plan, t *table) error {
	built, err := build(ctx, dir)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	if err := sizes(built, t); err != nil {
		return err
	}
	s, err := start(ctx, dir, built.product, built.trivial, p.starts)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	s.rows(t)
	if err := measureConnected(ctx, dir, built.product, t); err != nil {
		return fmt.Errorf("idle on both networks: %w", err)
	}
	if err := measureCrowd(ctx, dir, built, t); err != nil {
		return fmt.Errorf("%d sessions at once: %w", crowd, err)
	}
	return nil
}
