package memory

import (
	"fmt"
	"time"
)

// Period reads the bounds of a time: days as in 2026-01-31, which count whole in the zone of at, or moments in ISO
// 8601. An empty bound is none; since is met by what was saved then, and until, when it is a moment, is not.
func Period(since, until string, at *time.Location) (from, to time.Time, err error) {
	if from, _, err = moment("since", since, at); err != nil {
		return from, to, err
	}
	to, day, err := moment("until", until, at)
	if day {
		to = to.AddDate(0, 0, 1)
	}
	if err == nil && !from.IsZero() && !to.IsZero() && !from.Before(to) {
		err = fmt.Errorf("%w: since %s is not before until %s", ErrInvalid, since, until)
	}
	return from, to, err
}

func moment(name, text string, at *time.Location) (_ time.Time, day bool, err error) {
	if text == "" {
		return time.Time{}, false, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, at); err == nil {
		return t, true, nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(form, text, at); err == nil {
			return t, false, nil
		}
	}
	return time.Time{}, false, fmt.Errorf("%w: %s %q: write a day such as 2026-01-31, or a moment such as 2026-01-31T18:00:00Z", ErrInvalid, name, text)
}
