// Package clock is the durable timetable of a bot: it lets jobs come due by themselves, again and again, for as long
// as the bot lives. What it knows of each job is in the one database, so that a restart forgets no time: a job that was
// overdue runs once, one whose run a crash cut off runs again for the same time, and nothing begins anew because the
// program did.
//
// Times are of the wall clock. When that is put back, a job whose time is then farther away than it may be is drawn
// anew. Nothing here knows what a job does.
package clock

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"familiar/internal/sqlite"
)

// Job is something that comes due again and again.
type Job struct {
	// Name is the job's word in lists and logs, unique in a bot, such as «selfResearch».
	Name   string
	Rhythm Rhythm
	// AtStart lets the first run of every process come at once. Otherwise a job that was never run waits for one
	// interval.
	AtStart bool
	// Run does the work, on a goroutine of its own, and heeds ctx. due is the time that it runs for; a run that was
	// cut off comes again with the same due, so that whoever did half of it can tell. Its error is logged, and must
	// not hold what people said.
	Run func(ctx context.Context, due time.Time) error
}

// Rhythm is the time between two runs: drawn uniformly from [Least, Most), or always the same when they are equal.
type Rhythm struct{ Least, Most time.Duration }

// Every is the rhythm of one interval.
func Every(d time.Duration) Rhythm { return Rhythm{d, d} }

// after returns the time of the run that follows one at t.
func (r Rhythm) after(t time.Time) time.Time {
	wait := r.Least
	if spread := r.Most - r.Least; spread > 0 {
		wait += rand.N(spread)
	}
	return t.Add(wait)
}

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Never   Outcome = ""        // there was no run yet
	Done    Outcome = "done"    // it returned no error
	Failed  Outcome = "failed"  // it returned an error, or panicked
	Skipped Outcome = "skipped" // its time came while the last run was still going
	CutOff  Outcome = "cut off" // the process ended before it did
)

// State is what there is to know of a job.
type State struct {
	Name    string    `json:"name"`
	Next    time.Time `json:"nextScheduledAt"`
	Last    time.Time `json:"lastExecutedAt,omitzero"` // when the last run began; zero when there was none
	Running bool      `json:"isRunning"`
	Outcome Outcome   `json:"lastOutcome,omitempty"`
	Runs    int       `json:"runs"`     // that ended by themselves
	Misses  int       `json:"failures"` // of those, in a row up to now, the failed ones

	slot time.Time // the time that the present run is for; zero when none runs
	cuts int       // how often that run was cut off
}

// Clock is the timetable. Safe for concurrent use.
type Clock struct {
	store store
	log   *slog.Logger
	now   func() time.Time

	mu      sync.Mutex // guards what follows
	jobs    map[string]*entry
	started bool
}

type entry struct {
	job Job
	State
}

// maxCuts is how often a run that was cut off is taken up again for the same time: more often than that, it is the
// run that ends the process.
const maxCuts = 5

// Open reads what is known of the jobs. A job that is not among jobs any more is forgotten.
func Open(ctx context.Context, db *sqlite.DB, jobs []Job, now func() time.Time, log *slog.Logger) (*Clock, error) {
	s, err := openStore(ctx, db)
	if err != nil {
		return nil, err
	}
	known, broken, err := load(ctx, db.Read())
	if err != nil {
		return nil, fmt.Errorf("open the clock: %w", err)
	}
	for _, name := range broken {
		log.Warn("the times of a job cannot be read; it begins anew", "job", name)
	}
	c := &Clock{store: s, log: log, now: now, jobs: map[string]*entry{}}
	for _, j := range jobs {
		if c.jobs[j.Name] != nil || j.Name == "" || j.Rhythm.Least <= 0 || j.Rhythm.Most < j.Rhythm.Least {
			return nil, fmt.Errorf("open the clock: job %q: the name is taken or empty, or the rhythm is none", j.Name)
		}
		old, had := known[j.Name]
		c.jobs[j.Name] = &entry{job: j, State: c.restore(j, old, had)}
	}
	if err := s.replace(ctx, c.states()); err != nil {
		log.Warn("the times of the jobs could not be kept", "err", err)
	}
	return c, nil
}

// restore decides when a job runs next, from what the last process knew of it.
func (c *Clock) restore(j Job, old State, had bool) State {
	now := c.now()
	s := old
	s.Name, s.Running = j.Name, false
	switch {
	case !s.slot.IsZero() && s.cuts < maxCuts: // cut off: it runs again for the same time
		s.cuts++
		s.Next, s.Outcome = now, CutOff
	case j.AtStart || had && !s.Next.After(now):
		s.Next, s.slot, s.cuts = now, time.Time{}, 0
	case !had || s.Next.After(now.Add(j.Rhythm.Most)):
		s.Next, s.slot, s.cuts = j.Rhythm.after(now), time.Time{}, 0
	default:
		s.slot, s.cuts = time.Time{}, 0
	}
	return s
}

// States lists all jobs by name.
func (c *Clock) States() []State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.states()
}

func (c *Clock) states() []State {
	var all []State
	for _, name := range slices.Sorted(maps.Keys(c.jobs)) {
		all = append(all, c.jobs[name].State)
	}
	return all
}

// Read lists what a bot's database knows of its jobs, the next one first, whether the bot runs or not. It only reads.
func Read(ctx context.Context, db *sql.DB) ([]State, error) {
	known, _, err := load(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	all := slices.Collect(maps.Values(known))
	slices.SortFunc(all, func(a, b State) int { return a.Next.Compare(b.Next) })
	return all, nil
}

// Seed lets a database know these jobs, and no others, before a clock is opened on it.
func Seed(ctx context.Context, db *sqlite.DB, jobs []State) error {
	s, err := openStore(ctx, db)
	if err != nil {
		return err
	}
	return s.replace(ctx, jobs)
}

// errStarted says that Run was called a second time: one timetable has one hand.
var errStarted = errors.New("the clock runs already")
