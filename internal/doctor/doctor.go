// Package doctor looks at a bot, running or not, and says of each thing whether it is well, and what to do where it
// is not. It changes nothing and takes no lock: whatever it tries out, it tries out elsewhere. What it says holds no
// secret. It knows nothing of the product: whoever calls it hands it the checks that need somebody who does.
package doctor

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// Status is how one thing stands.
type Status string

// How things stand. Only Fail makes the whole a failure.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Line is what was found out about one thing.
type Line struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Say    string `json:"say"`
	Next   string `json:"next,omitempty"` // what to do; "" when nothing is to be done
}

// Report is everything that was found out about one bot.
type Report struct {
	Dir     string `json:"dir"`
	Running bool   `json:"running"`
	Lines   []Line `json:"checks"`
}

// Healthy reports whether nothing failed.
func (r Report) Healthy() bool {
	for _, l := range r.Lines {
		if l.Status == Fail {
			return false
		}
	}
	return true
}

// Check looks at one thing. It may find out several lines about it, or none.
type Check struct {
	Name  string
	Limit time.Duration // for all of it; zero means five seconds
	Look  func(context.Context) []Line
}

// usual is how long a check may take that does not say so itself.
const usual = 5 * time.Second

// Run makes the checks, one after the other, and returns what they found in the same order. A check that breaks, or
// heeds no end, is a failure of its own and of no other.
func Run(ctx context.Context, checks []Check) []Line {
	var lines []Line
	for _, c := range checks {
		for _, l := range c.run(ctx) {
			l.Check = c.Name
			l.Say, l.Next = flat(l.Say), flat(l.Next)
			lines = append(lines, l)
		}
	}
	return lines
}

func (c Check) run(ctx context.Context) (lines []Line) {
	limit := c.Limit
	if limit == 0 {
		limit = usual
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			lines = append(lines, Bad(fmt.Sprintf("the check broke: %v", r), "tell us of this: "+string(debug.Stack())))
		}
	}()
	return c.Look(ctx)
}

// flat makes a text one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// Well says that something is as it should be.
func Well(format string, args ...any) Line {
	return Line{Status: OK, Say: fmt.Sprintf(format, args...)}
}

// Doubtful says that something is worth a look; next is what to do.
func Doubtful(say, next string) Line { return Line{Status: Warn, Say: say, Next: next} }

// Bad says that something does not work; next is what to do.
func Bad(say, next string) Line { return Line{Status: Fail, Say: say, Next: next} }
