package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What the bench reads of the database and of the bot is there: it would print nonsense without a word.
func TestWay(t *testing.T) {
	w, err := measureWay(t.Context(), t.TempDir(), plan{events: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.samples) != 3 || w.size < 1000 {
		t.Errorf("%d samples, a prompt of %d bytes", len(w.samples), w.size)
	}
	for _, s := range w.samples {
		if s.accepted <= 0 || s.posted <= s.accepted || s.disk <= 0 || s.diskPost <= s.disk || s.work <= 0 {
			t.Errorf("times that cannot be: %+v", s)
		}
		if s.commits < 2 || s.commits > 10 { // the turn begins, and the page shows it, before the agent is asked
			t.Errorf("%d transactions", s.commits)
		}
	}
	var tab table
	var out strings.Builder
	w.rows(&tab, "here")
	if err := tab.print(&out, facts{way: w}); err != nil || !strings.Contains(out.String(), "accepted to prompt, here, p99") {
		t.Errorf("%v in\n%s", err, out.String())
	}
}

// The search finds what brute force finds, in the same order.
func TestMemory(t *testing.T) {
	var tab table
	if err := measureMemory(t.Context(), t.TempDir(), plan{memories: 3000, questions: 20}, &tab); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, r := range tab.rows {
		if m := regexp.MustCompile(`recall@10 (\d+) of (\d+)`).FindStringSubmatch(r.base); m != nil {
			if seen++; m[1] != m[2] || m[2] == "0" {
				t.Errorf("%s: %s", r.what, m[0])
			}
		}
	}
	if seen != 6 {
		t.Errorf("%d kinds of questions in %+v", seen, tab.rows)
	}
}

func TestQuantile(t *testing.T) {
	samples := []time.Duration{3, 1, 2, 5, 4}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 5, 1: 5} {
		if got := quantile(samples, q); got != want {
			t.Errorf("%v: %v, not %v", q, got, want)
		}
	}
}

func TestFigure(t *testing.T) {
	for want, v := range map[string]float64{"0.00 ms": 0, "0.012 ms": 0.0123, "-0.123 ms": -0.1234, "1.23 ms": 1.234, "12.3 ms": 12.34, "1234 ms": 1234.2} {
		if got := figure(v, "ms"); got != want {
			t.Errorf("%v: %q, not %q", v, got, want)
		}
	}
}
