// Package setting lets each package check its own part of the configuration. A package declares
//
//	type Config struct {
//		MaxParts int `yaml:"maxParts" env:"OUTBOX_MAX_PARTS" doc:"the most messages that one reply may become"`
//	}
//	func Defaults() Config
//	func (c *Config) Check(r *setting.Report)
//
// and says in Check what is missing, wrong or corrected, by key. Package config adds the place in the file.
package setting

import (
	"fmt"
	"strings"
)

// Severity says what a problem does to the start.
type Severity int

// The severities.
const (
	Fatal   Severity = iota + 1 // nothing starts
	Warning                     // the value was corrected, or is worth a word
)

// Problem is one thing to say about one key.
type Problem struct {
	Path     string // dotted, from the root: access.channels[2].id
	Severity Severity
	Missing  bool // a required value is not there
	Say      string
}

// Report collects problems. The zero Report is ready; not safe for concurrent use.
type Report struct {
	prefix string
	root   *Report
	list   []Problem
}

// At returns a report on the section or entry that path names below this one; "[2]" is an entry of a list.
func (r *Report) At(path string) *Report { return &Report{prefix: r.path(path), root: r.top()} }

// Problems returns everything that was reported, in order.
func (r *Report) Problems() []Problem { return r.top().list }

// Missing reports a required value that is not there.
func (r *Report) Missing(key string) {
	r.add(Problem{Path: r.path(key), Severity: Fatal, Missing: true, Say: "is required"})
}

// Wrong reports a value that nothing can start with; say what is allowed.
func (r *Report) Wrong(key, format string, args ...any) {
	r.add(Problem{Path: r.path(key), Severity: Fatal, Say: fmt.Sprintf(format, args...)})
}

// Warn reports a value that was corrected or deserves a word.
func (r *Report) Warn(key, format string, args ...any) {
	r.add(Problem{Path: r.path(key), Severity: Warning, Say: fmt.Sprintf(format, args...)})
}

// AtLeast raises *value to low and warns, when it is below.
func (r *Report) AtLeast(key string, value *int, low int) {
	if *value < low {
		r.Warn(key, "%d is below the least value %d; %d is used", *value, low, low)
		*value = low
	}
}

// OneOf reports value as wrong unless it is one of allowed.
func (r *Report) OneOf(key, value string, allowed ...string) {
	for _, a := range allowed {
		if a == value {
			return
		}
	}
	r.Wrong(key, "%q is not one of %s", value, strings.Join(allowed, ", "))
}

func (r *Report) add(p Problem) { top := r.top(); top.list = append(top.list, p) }

func (r *Report) top() *Report {
	if r.root != nil {
		return r.root
	}
	return r
}

func (r *Report) path(key string) string {
	switch {
	case r.prefix == "" || key == "":
		return r.prefix + key
	case key[0] == '[':
		return r.prefix + key
	}
	return r.prefix + "." + key
}
