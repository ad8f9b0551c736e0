package main

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"
)

//go:embed notes.txt
var notes string

// row is one figure. A budget of 0 is none.
type row struct {
	what   string
	unit   string
	got    float64
	spread string // what else was seen of it
	budget float64
	base   string
}

// table is what is printed.
type table struct{ rows []row }

func (t *table) add(r row) { t.rows = append(t.rows, r) }

// facts are what the notes are filled with.
type facts struct {
	plan plan
	way  way
}

// The names of the facts in the notes.
func (f facts) Starts() int    { return f.plan.starts }
func (f facts) Events() int    { return f.plan.events }
func (f facts) Memories() int  { return memories }
func (f facts) Important() int { return important }
func (f facts) Recent() int    { return recent }
func (f facts) Written() int   { return f.way.size }

// Machine is what the run had to share.
func (f facts) Machine() string {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		load = []byte("not told")
	}
	return fmt.Sprintf("%d cores, load at the end %s", runtime.NumCPU(), strings.Join(strings.Fields(string(load))[:2], " "))
}

// Commits is the number of transactions on the way: one number, or the least and the greatest.
func (f facts) Commits() string {
	less := func(a, b sample) int { return a.commits - b.commits }
	least, most := slices.MinFunc(f.way.samples, less).commits, slices.MaxFunc(f.way.samples, less).commits
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// print writes the table and under it the notes.
func (t *table) print(out io.Writer, f facts) error {
	page, err := template.New("notes").Parse(notes)
	if err != nil {
		return err
	}
	if err := t.lines(out); err != nil {
		return err
	}
	return page.Execute(out, f)
}

// lines writes the table.
func (t *table) lines(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "what\tmeasured\tbudget\tmeasured/budget\tbaseline in the same run") // Flush tells
	for _, r := range t.rows {
		budget, ratio := "–", "–"
		if r.budget > 0 {
			budget, ratio = "≤ "+figure(r.budget, r.unit), fmt.Sprintf("%.2f", r.got/r.budget)
			if r.got > r.budget {
				ratio += "  over"
			}
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.what, strings.TrimSpace(figure(r.got, r.unit)+" "+r.spread), budget, ratio, r.base)
	}
	return w.Flush()
}

// figure writes a number with three digits that say something.
func figure(v float64, unit string) string {
	digits := 2
	if v != 0 {
		digits = max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	}
	return fmt.Sprintf("%.*f %s", min(digits, 3), v, unit)
}

// against says what a baseline is and how many times of it the figure is.
func against(what string, base, got float64, unit string) string {
	return fmt.Sprintf("%s: %s (× %.1f)", what, figure(base, unit), got/base)
}

// quantile returns the value below which the share q of the samples lies. The samples are not empty.
func quantile(samples []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// spread is the least and the greatest of the samples.
func spread(samples []time.Duration) string {
	return fmt.Sprintf("(%.1f – %.1f)", ms(slices.Min(samples)), ms(slices.Max(samples)))
}
