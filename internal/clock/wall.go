package clock

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrGap says that a time is none in its zone: the clocks were put forward past it.
var ErrGap = errors.New("there is no such time that day: the clocks are put forward")

// At returns the moment at which the clocks of a zone show the date and the time that wall shows, whatever its own
// zone. Where they show it twice, because they are put back, it is the first of the two; where they never show it, that
// is ErrGap.
func At(wall time.Time, zone *time.Location) (time.Time, error) {
	shown := func(t time.Time) string { return t.Format("2006-01-02 15:04:05.999999999") }
	y, m, d := wall.Date()
	t := time.Date(y, m, d, wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	// The standard library may give either of two moments; the other one lies a shift of the clocks away, which is
	// never more than a few hours.
	first := t
	for _, back := range []time.Duration{30 * time.Minute, time.Hour, 90 * time.Minute, 2 * time.Hour, 3 * time.Hour} {
		if earlier := t.Add(-back); shown(earlier) == shown(t) {
			first = earlier
		}
	}
	if shown(first) != shown(wall) {
		return time.Time{}, ErrGap
	}
	return first, nil
}

// layouts are the forms of ISO 8601 that Parse reads, those with an offset first.
var layouts = []struct {
	layout string
	zoned  bool
}{
	{time.RFC3339, true}, {"2006-01-02T15:04Z07:00", true}, {"2006-01-02T15:04:05-0700", true}, {"2006-01-02 15:04:05Z07:00", true},
	{"2006-01-02T15:04:05", false}, {"2006-01-02T15:04", false}, {"2006-01-02 15:04:05", false}, {"2006-01-02 15:04", false},
	{"2006-01-02", false},
}

// Parse reads a date and a time in ISO 8601. One without an offset is of the clocks of zone, and a date alone is its
// first moment, which is not midnight where the clocks are put forward then.
func Parse(text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, l := range layouts {
		t, err := time.Parse(l.layout, text)
		if err != nil {
			continue
		}
		if l.zoned {
			return t, nil
		}
		at, err := At(t, zone)
		for late := 30; errors.Is(err, ErrGap) && l.layout == time.DateOnly && late <= 180; late += 30 {
			at, err = At(t.Add(time.Duration(late)*time.Minute), zone)
		}
		return at, err
	}
	return time.Time{}, fmt.Errorf("%q is no time in ISO 8601, such as 2027-03-23T09:00 or 2027-03-23T09:00:00+01:00", text)
}
