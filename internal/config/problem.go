package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Origin says where a value came from. The zero Origin is our own default.
type Origin struct {
	Name         string // a file as it was named to Load, or "environment NAME", or a flag
	Line, Column int    // from 1; 0 when Name is no file
}

func (o Origin) String() string {
	switch {
	case o.Name == "":
		return "default"
	case o.Line == 0:
		return o.Name
	}
	return fmt.Sprintf("%s:%d:%d", o.Name, o.Line, o.Column)
}

// Problem is one thing to say about one key. Its texts never hold the value of a secret.
type Problem struct {
	At   Origin
	Path string // dotted, "" when it concerns a whole file
	Say  string
}

// Attrs are the parts of a problem for a line of a log. A key in front of a colon, as String writes it, would look
// like one that is given a secret, and would be masked.
func (p Problem) Attrs() []any {
	var attrs []any
	if p.Path != "" {
		attrs = append(attrs, "setting", p.Path)
	}
	attrs = append(attrs, "say", p.Say)
	if p.At.Name != "" {
		attrs = append(attrs, "at", p.At.String())
	}
	return attrs
}

func (p Problem) String() string {
	var parts []string
	if p.At.Name != "" {
		parts = append(parts, p.At.String())
	}
	if p.Path != "" {
		parts = append(parts, p.Path)
	}
	return strings.Join(append(parts, p.Say), ": ")
}

// Problems is everything that keeps a configuration from being used, as one error with a line for each.
type Problems []Problem

// mostTold bounds how many problems an error tells; whoever has more has one that repeats.
const mostTold = 50

func (p Problems) Error() string {
	var lines []string
	for i, one := range p {
		if i == mostTold {
			lines = append(lines, fmt.Sprintf("and %d more", len(p)-mostTold))
			break
		}
		lines = append(lines, one.String())
	}
	return strings.Join(lines, "\n")
}

// inOrder sorts by place in the file, keeping the order of what has none.
func inOrder(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.At.Name, b.At.Name), cmp.Compare(a.At.Line, b.At.Line),
			cmp.Compare(a.At.Column, b.At.Column))
	})
}
