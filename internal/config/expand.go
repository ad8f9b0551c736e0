package config

import (
	"fmt"
	"regexp"
	"strings"
)

// reference is an escaped $${, a whole ${NAME}, or a ${ that is neither.
var reference = regexp.MustCompile(`\$\$\{|\$\{[A-Za-z_][A-Za-z0-9_]*\}|\$\{`)

// expander puts the environment into texts. It runs before anything is required, so that a variable that is not
// set counts as a value that is not there.
type expander struct {
	env             map[string]string
	problems, unset Problems
}

func (x *expander) walk(n *node) {
	if n.kind == text && strings.Contains(n.value, "${") {
		n.value, n.loose = x.expand(n), true
	}
	for _, item := range n.items {
		x.walk(item)
	}
	for _, e := range n.keys {
		x.walk(e.value)
	}
}

func (x *expander) expand(n *node) string {
	return reference.ReplaceAllStringFunc(n.value, func(found string) string {
		switch found {
		case "$${":
			return "${"
		case "${":
			x.problems = append(x.problems, Problem{At: n.at,
				Say: "${ begins no ${NAME}; for the two characters themselves write $${"})
			return found
		}
		name := found[2 : len(found)-1]
		value := x.env[name]
		if value == "" {
			if n.unset == "" {
				n.unset = name
			}
			x.unset = append(x.unset, Problem{At: n.at, Say: fmt.Sprintf("the variable %s is not set", name)})
		}
		return value
	})
}
