package clock

import (
	"errors"
	"testing"
	"time"
)

// BUG-H04: a date alone is local midnight, a time that comes twice is the first of the two, one in a gap is refused;
// also where the clocks move by half an hour, and at midnight.
func TestWallClocks(t *testing.T) {
	const gap = "gap"
	for _, c := range []struct{ zone, text, want string }{
		{"Asia/Shanghai", "2027-03-23", "2027-03-22T16:00:00Z"},
		{"Asia/Shanghai", " 2027-03-23T09:30 ", "2027-03-23T01:30:00Z"},
		{"Europe/Oslo", "2027-10-31T02:30", "2027-10-31T00:30:00Z"},
		{"Europe/Oslo", "2027-10-31T02:30:00+01:00", "2027-10-31T01:30:00Z"},
		{"Europe/Oslo", "2027-03-28T02:30", gap},
		{"Europe/Oslo", "2027-03-28 03:00:00", "2027-03-28T01:00:00Z"},
		{"Australia/Lord_Howe", "2027-04-04T01:45", "2027-04-03T14:45:00Z"},
		{"Australia/Lord_Howe", "2027-10-03T02:15", gap},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"},
		{"America/Sao_Paulo", "2018-11-04T00:30", gap},
		{"America/New_York", "2027-11-07T01:15:30", "2027-11-07T05:15:30Z"},
		{"UTC", "2027-02-28T23:59Z", "2027-02-28T23:59:00Z"},
		{"UTC", "2027-02-28 23:59", "2027-02-28T23:59:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		at, err := Parse(c.text, zone)
		if c.want == gap {
			if !errors.Is(err, ErrGap) {
				t.Errorf("%s in %s: %v, %v", c.text, c.zone, at, err)
			}
			continue
		}
		if got := at.UTC().Format(time.RFC3339); err != nil || got != c.want {
			t.Errorf("%s in %s: %s, not %s: %v", c.text, c.zone, got, c.want, err)
		}
	}
	for _, text := range []string{"", "tomorrow", "2027-02-30", "2027-13-01T00:00", "25:00", "1800000000"} {
		if at, err := Parse(text, time.UTC); err == nil {
			t.Errorf("%q was read as %s", text, at)
		}
	}
}
