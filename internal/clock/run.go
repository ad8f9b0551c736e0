package clock

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// glance is the longest that the clock sleeps: a wall clock that was put forward, and a machine that woke up, are
// noticed within it.
const glance = 30 * time.Second

// worrying is how many failures in a row are more than a passing trouble.
const worrying = 3

// Run lets jobs come due until ctx ends, and returns when none of them runs any more; a second call is an error and
// changes nothing. It blocks.
func (c *Clock) Run(ctx context.Context) error {
	c.mu.Lock()
	was := c.started
	c.started = true
	c.mu.Unlock()
	if was {
		c.log.Warn("the clock was started twice")
		return errStarted
	}
	var running sync.WaitGroup
	defer running.Wait()
	for {
		for _, e := range c.due() {
			due := c.begin(ctx, e)
			running.Go(func() { c.run(ctx, e, due) })
		}
		select {
		case <-time.After(c.wait()):
		case <-ctx.Done():
			return nil
		}
	}
}

// wait is the time until the next job, at most a glance.
func (c *Clock) wait() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait, now := glance, c.now()
	for _, e := range c.jobs {
		wait = min(wait, e.Next.Sub(now))
	}
	return wait
}

// due returns the jobs whose time has come. One that is still running is skipped and planned anew.
func (c *Clock) due() []*entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	var found []*entry
	for _, e := range c.jobs {
		if e.Next.After(now.Add(e.job.Rhythm.Most)) {
			e.Next = e.job.Rhythm.after(now) // the wall clock was put back
		}
		switch {
		case e.Next.After(now):
		case e.Running:
			if e.Outcome != Skipped { // once is enough for one run
				c.log.Info("a job is still running when its time comes again; its times are left out until it ends", "job", e.Name)
			}
			e.Next, e.Outcome = e.job.Rhythm.after(now), Skipped
		default:
			found = append(found, e)
		}
	}
	return found
}

// begin notes that a job runs, and plans its next time. A disk that is full keeps neither from anything: as long as
// the process lives, no time comes twice.
func (c *Clock) begin(ctx context.Context, e *entry) (due time.Time) {
	c.mu.Lock()
	now := c.now()
	if e.slot.IsZero() {
		e.slot = e.Next
	}
	e.Running, e.Last, e.Next = true, now, e.job.Rhythm.after(now)
	state := e.State
	c.mu.Unlock()
	c.save(ctx, state)
	return state.slot
}

// run runs a job once. One that the end of the process cut off keeps its slot, and is taken up at the next start.
func (c *Clock) run(ctx context.Context, e *entry, due time.Time) {
	err := try(ctx, e.job, due)
	cut := err != nil && ctx.Err() != nil
	c.mu.Lock()
	e.Running = false
	switch {
	case cut:
		e.Outcome = CutOff
	case err != nil:
		e.Outcome, e.Misses, e.Runs = Failed, e.Misses+1, e.Runs+1
	default:
		e.Outcome, e.Misses, e.Runs = Done, 0, e.Runs+1
	}
	if !cut {
		e.slot, e.cuts = time.Time{}, 0
	}
	state := e.State
	c.mu.Unlock()
	c.save(ctx, state)
	if err != nil && !cut {
		level := slog.LevelWarn // it comes again
		if state.Misses >= worrying {
			level = slog.LevelError
		}
		c.log.Log(ctx, level, "a job failed", "job", e.Name, "failures", state.Misses, "next", state.Next, "err", err)
		return
	}
	c.log.Debug("a job ran", "job", e.Name, "outcome", string(state.Outcome), "next", state.Next)
}

// try runs a job; a panic is its error and nobody else's.
func try(ctx context.Context, j Job, due time.Time) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return j.Run(ctx, due)
}

func (c *Clock) save(ctx context.Context, s State) {
	if err := c.store.save(ctx, s); err != nil {
		c.log.Warn("the times of a job could not be kept", "job", s.Name, "err", err)
	}
}
