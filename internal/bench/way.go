package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"syscall"
	"time"
)

const (
	recent = 20 // messages of the place that the agent is told, as configured unless something else is said
	warmup = 50 // events before the first that counts: the caches are warm then, and the place has its messages
)

// answerTime bounds one turn.
const answerTime = 30 * time.Second

// sample is one event.
type sample struct {
	posted   time.Duration // from the request being sent to the prompt
	accepted time.Duration // from the event being taken up, just after it was accepted, to the prompt
	commits  int           // of the database in the time of accepted
	frames   int           // that each of them wrote; 0 when nobody knows
	diskPost time.Duration // the disk alone, for the commits of posted
	disk     time.Duration // the disk alone, for the commits of accepted
	work     time.Duration // a fixed piece of work, done after it
}

// way is the way of all events to the agent.
type way struct {
	samples []sample
	size    int // bytes of the last prompt
	frames  int // that the last transactions wrote, each
}

// measureWay lets a bot in dir hear events one at a time.
func measureWay(ctx context.Context, dir string, p plan) (w way, err error) {
	w.frames = 1
	bot, err := open(ctx, filepath.Join(dir, "bot"))
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, bot.leave.close()) }()
	alone, err := openDisk(filepath.Join(dir, "disk"))
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, alone.file.Close()) }()
	work := calibrate()
	for i := range warmup + p.events {
		if i == warmup && p.profile != "" {
			stop, err := profile(p.profile)
			if err != nil {
				return w, err
			}
			defer func() { err = errors.Join(err, stop()) }()
		}
		s, got, err := bot.hear(ctx)
		if err == nil {
			err = w.alone(alone, &s)
		}
		if err != nil {
			return w, fmt.Errorf("event %d: %w", i, err)
		}
		s.work = work.do()
		if i >= warmup {
			w.samples, w.size = append(w.samples, s), got.size
		}
	}
	return w, nil
}

// hear sends one event and waits until its turn has ended.
func (b *bot) hear(ctx context.Context) (s sample, got seen, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	before, err := b.probe.db.read()
	if err != nil {
		return s, got, err
	}
	sent := time.Now()
	posted, err := b.client.Post(ctx, b.session, "", "When is the walk, and where did we leave the tea? 茶在哪裡？")
	if err != nil {
		return s, got, err
	}
	b.session = posted.Session
	select {
	case err = <-b.ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return s, got, err
	}
	got = <-b.probe.prompted // a turn that ended well had a prompt
	s = sample{posted: got.at.Sub(sent), accepted: got.at.Sub(got.turn.Began), commits: int(got.db.commits-before.commits) - 1}
	if got.db.frames > before.frames { // else the log began anew meanwhile
		s.frames = int(got.db.frames-before.frames) / (s.commits + 1)
	}
	return s, got, nil
}

// alone lets the disk do alone what it did on the way.
func (w *way) alone(d *disk, s *sample) (err error) {
	if s.frames > 0 {
		w.frames = s.frames
	}
	if s.disk, err = d.write(w.frames, s.commits); err != nil {
		return err
	}
	one, err := d.write(w.frames, 1)
	s.diskPost = s.disk + one
	return err
}

// profile writes a profile of the processor's time until stop.
func profile(path string) (stop func() error, err error) {
	out, err := os.Create(path) //nolint:gosec // the caller names it
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(out); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	return func() error { pprof.StopCPUProfile(); return out.Close() }, nil
}

// part is one stretch of the way, in all samples.
type part struct {
	what     string
	total    func(sample) time.Duration
	disk     func(sample) time.Duration
	p50, p99 float64 // budgets in milliseconds, 0 for none
}

// parts are what is told of the way.
var parts = []part{
	{"accepted to prompt", func(s sample) time.Duration { return s.accepted }, func(s sample) time.Duration { return s.disk }, 1, 5},
	{"sent to prompt", func(s sample) time.Duration { return s.posted }, func(s sample) time.Duration { return s.diskPost }, 0, 0},
}

// rows adds the quantiles of what is above the disk's own time, in the words of where the bot was.
func (w way) rows(t *table, where string) {
	for _, part := range parts {
		var total, disk, work []time.Duration
		for _, s := range w.samples {
			total, disk, work = append(total, part.total(s)), append(disk, part.disk(s)), append(work, s.work)
		}
		for _, at := range []struct {
			name      string
			q, budget float64
		}{{"p50", 0.5, part.p50}, {"p99", 0.99, part.p99}} {
			with, alone := ms(quantile(total, at.q)), ms(quantile(disk, at.q))
			t.add(row{what: part.what + ", " + where + ", " + at.name, unit: "ms", got: with - alone, budget: at.budget,
				spread: fmt.Sprintf("(%.2f with fsync)", with), base: fmt.Sprintf("fsync alone: %s; 1 ms of work: %s", figure(alone, "ms"), figure(ms(quantile(work, at.q)), "ms"))})
		}
	}
}

// tmpfs is the magic number of a file system that lives in memory (statfs(2)).
const tmpfs = 0x01021994

// inMemory makes a directory in memory, where an fsync costs nothing; "" where there is none.
func inMemory() (string, error) {
	const shared = "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shared, &fs); err != nil || fs.Type != tmpfs {
		return "", nil //nolint:nilerr // then it is not measured there
	}
	return os.MkdirTemp(shared, "familiar-bench-")
}
