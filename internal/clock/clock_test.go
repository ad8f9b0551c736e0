package clock

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"familiar/internal/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a clock on a real database, that can be left and opened again.
type rig struct {
	t    *testing.T
	db   *sqlite.DB
	log  lines
	skew atomic.Int64 // nanoseconds that the wall clock was put
	end  context.CancelFunc
	left chan error
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newRig(t *testing.T) *rig {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &rig{t: t, db: db}
}

func (r *rig) now() time.Time { return time.Now().Add(time.Duration(r.skew.Load())) }

func (r *rig) open(jobs ...Job) *Clock {
	r.t.Helper()
	c, err := Open(r.t.Context(), r.db, jobs, r.now, slog.New(slog.NewTextHandler(&r.log, nil)))
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *rig) run(c *Clock) {
	ctx, end := context.WithCancel(r.t.Context())
	r.end, r.left = end, make(chan error, 1)
	go func() { r.left <- c.Run(ctx) }()
}

func (r *rig) leave() {
	r.t.Helper()
	r.end()
	if err := <-r.left; err != nil {
		r.t.Fatal(err)
	}
}

// pass lets time go by, until nothing happens any more.
func pass(d time.Duration) {
	time.Sleep(d) // of the bubble
	synctest.Wait()
}

// job is one that counts its runs and notes what they ran for.
type job struct {
	mu   sync.Mutex
	ran  []time.Time
	err  error
	hold chan struct{} // a run waits for it, or for the end
}

func (j *job) run(ctx context.Context, due time.Time) error {
	j.mu.Lock()
	j.ran = append(j.ran, due)
	err := j.err
	j.mu.Unlock()
	if j.hold != nil {
		select {
		case <-j.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// dues are the times that it ran for.
func (j *job) dues() []time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.ran)
}

// mend lets it fail no more.
func (j *job) mend() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = nil
}

func TestAJobComesDueAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRig(t), &job{}
		began := time.Now()
		r.run(r.open(Job{Name: "a", Rhythm: Every(10 * time.Second), Run: j.run}))
		pass(9 * time.Second)
		if len(j.dues()) != 0 {
			t.Fatal("the first run comes after one interval")
		}
		pass(22 * time.Second)
		if len(j.dues()) != 3 || !j.dues()[0].Equal(began.Add(10*time.Second)) {
			t.Fatal(j.dues())
		}
		r.leave()
	})
}

// AF-154
func TestStartedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRig(t), &job{}
		c := r.open(Job{Name: "a", Rhythm: Every(time.Minute), Run: j.run})
		r.run(c)
		synctest.Wait()
		if err := c.Run(t.Context()); err == nil {
			t.Fatal("a second hand")
		}
		pass(90 * time.Second)
		if len(j.dues()) != 1 || !strings.Contains(r.log.String(), "started twice") {
			t.Fatal(j.dues(), r.log.String())
		}
		r.leave()
	})
}

// AF-155, BUG-H07: neither an error nor a panic nor a disk that takes nothing ends a job, and no time comes twice.
func TestWhatFailsComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, bad := newRig(t), &job{err: errors.New("no")}
		var panics atomic.Int64
		c := r.open(Job{Name: "bad", Rhythm: Every(time.Minute), Run: bad.run},
			Job{Name: "worse", Rhythm: Every(time.Minute), Run: func(context.Context, time.Time) error { panics.Add(1); panic("a bug") }})
		r.run(c)
		pass(61 * time.Second)
		if s := c.States()[0]; s.Outcome != Failed || s.Misses != 1 || s.Runs != 1 {
			t.Fatalf("%+v", s)
		}
		if err := r.db.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(`DROP TABLE clock`); return err }); err != nil {
			t.Fatal(err)
		}
		if log := r.log.String(); strings.Contains(log, "level=ERROR") || !strings.Contains(log, "failures=1") {
			t.Fatal("one failure is no alarm:", log)
		}
		bad.mend()
		pass(2 * time.Minute)
		if len(bad.dues()) != 3 || panics.Load() != 3 || strings.Count(r.log.String(), "level=ERROR") != 1 || !strings.Contains(r.log.String(), "could not be kept") {
			t.Fatal(len(bad.dues()), panics.Load(), r.log.String())
		}
		if s := c.States()[0]; s.Outcome != Done || s.Misses != 0 {
			t.Fatalf("%+v", s)
		}
		r.leave()
	})
}

// AF-156, BUG-H13: what still runs is not run a second time beside itself, and no copies queue up.
func TestStillRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRig(t), &job{hold: make(chan struct{})}
		c := r.open(Job{Name: "a", Rhythm: Every(time.Minute), Run: j.run})
		r.run(c)
		pass(3*time.Minute + time.Second)
		if s := c.States()[0]; len(j.dues()) != 1 || s.Outcome != Skipped || !s.Running {
			t.Fatal(j.dues(), s)
		}
		if log := r.log.String(); strings.Count(log, "still running") != 1 {
			t.Fatal(log)
		}
		close(j.hold)
		pass(time.Minute)
		if len(j.dues()) != 2 {
			t.Fatal(j.dues())
		}
		r.leave()
	})
}

// AF-157: a time that passed while the bot was down comes once, at once; one that is farther away than it
// may be is drawn anew; any other is kept.
func TestTimesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRig(t), &job{}
		of := func(rhythm Rhythm) Job { return Job{Name: "a", Rhythm: rhythm, Run: j.run} }
		planned := r.open(of(Rhythm{time.Hour, 3 * time.Hour})).States()[0].Next
		pass(30 * time.Minute)
		if again := r.open(of(Rhythm{time.Hour, 3 * time.Hour})).States()[0].Next; again.UnixMilli() != planned.UnixMilli() {
			t.Fatalf("planned %s, after a restart %s", planned, again)
		}
		if far := r.open(of(Every(time.Minute))).States()[0].Next; time.Until(far) > time.Minute {
			t.Fatal("the old time was kept:", far)
		}
		pass(10 * time.Minute) // ten times passed
		r.run(r.open(of(Every(time.Minute))))
		synctest.Wait()
		if len(j.dues()) != 1 {
			t.Fatal("overdue:", j.dues())
		}
		r.leave()
	})
}

func TestAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRig(t), &job{}
		for range 2 { // in every process
			r.run(r.open(Job{Name: "a", Rhythm: Every(time.Hour), AtStart: true, Run: j.run}))
			synctest.Wait()
			r.leave()
		}
		if len(j.dues()) != 2 {
			t.Fatal(j.dues())
		}
	})
}

// AF-158
func TestABrokenTimeIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRig(t), &job{}
		both := []Job{{Name: "a", Rhythm: Every(time.Hour), Run: j.run}, {Name: "b", Rhythm: Every(time.Hour), Run: j.run}}
		r.open(both...)
		for _, broken := range []string{`next = 'tomorrow'`, `next = -1`, `next = x'00'`, `outcome = 'well'`, `cuts = 1.5`, `runs = 'many'`} {
			if err := r.db.Write(t.Context(), func(tx *sql.Tx) error {
				_, err := tx.Exec(`UPDATE clock SET ` + broken + ` WHERE name = 'a'`)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			r.log = lines{}
			pass(time.Minute)
			all := r.open(both...).States()
			if time.Until(all[0].Next) != time.Hour || time.Until(all[1].Next) >= time.Hour ||
				!strings.Contains(r.log.String(), "begins anew") {
				t.Fatal(broken, all, r.log.String())
			}
		}
	})
}

// A run that the end cut off comes again for the same time, but not for ever.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRig(t), &job{hold: make(chan struct{})}
		one := Job{Name: "a", Rhythm: Every(time.Hour), Run: j.run}
		r.run(r.open(one))
		pass(time.Hour)
		r.leave()
		if left, err := Read(t.Context(), r.db.Read()); err != nil || left[0].Outcome != CutOff {
			t.Fatal(left, err)
		}
		for range maxCuts + 2 {
			r.run(r.open(one))
			synctest.Wait()
			r.leave()
		}
		if len(j.dues()) != 1+maxCuts {
			t.Fatal(len(j.dues()), "runs")
		}
		for _, due := range j.dues() {
			if due.UnixMilli() != j.dues()[0].UnixMilli() {
				t.Fatal("another time:", j.dues())
			}
		}
	})
}

// The wall clock is put forward by a day, and back by a year.
func TestTheWallClockJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := newRig(t), &job{}
		c := r.open(Job{Name: "a", Rhythm: Every(time.Hour), Run: j.run})
		r.run(c)
		pass(time.Minute)
		r.skew.Store(int64(24 * time.Hour))
		pass(glance)
		if len(j.dues()) != 1 {
			t.Fatal("forward:", j.dues())
		}
		r.skew.Store(int64(-365 * 24 * time.Hour))
		pass(glance)
		if next := c.States()[0].Next; next.After(r.now().Add(time.Hour)) {
			t.Fatal("back:", next)
		}
		r.leave()
	})
}

func TestWhatIsNoJob(t *testing.T) {
	r := newRig(t)
	good := Job{Name: "a", Rhythm: Every(time.Hour)}
	for _, jobs := range [][]Job{{good, good}, {{Name: "", Rhythm: Every(time.Hour)}}, {{Name: "a"}}, {{Name: "a", Rhythm: Rhythm{2, 1}}}} {
		if _, err := Open(t.Context(), r.db, jobs, time.Now, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%+v was taken", jobs)
		}
	}
}

func TestARhythmStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "least"))
		most := least + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "spread"))
		now := time.Unix(1_800_000_000, 0)
		wait := Rhythm{least, most}.after(now).Sub(now)
		if wait < least || wait > most || wait == most && least != most {
			t.Fatal(wait)
		}
	})
}
