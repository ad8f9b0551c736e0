package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"familiar/internal/clock"
	"familiar/internal/instance"
	"familiar/internal/sqlite"
)

// Timetable lists when the jobs of a bot are due, the next one first, running or not. It changes nothing.
func Timetable(ctx context.Context, inst instance.Instance) (all []clock.State, err error) {
	db, err := sqlite.Peek(ctx, inst.Database())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it has not run yet
	}
	if err != nil {
		return nil, fmt.Errorf("look at the clock: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if there, err := db.Has(ctx, "clock"); err != nil || !there {
		return nil, err
	}
	if all, err = clock.Read(ctx, db.Read()); err != nil {
		return nil, err
	}
	_, no := inst.Running()
	for i := range all {
		if all[i].Running && errors.Is(no, instance.ErrNotRunning) {
			all[i].Running, all[i].Outcome = false, clock.CutOff
		}
	}
	return all, nil
}
