package config

import (
	"errors"
	"fmt"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

// deepest bounds how far mappings and lists may nest; the configuration needs six.
const deepest = 64

// parseYAML reads one YAML document. Aliases and merge keys are refused: they would let a small file grow without
// bound, and a value could not name the place where it is written.
func parseYAML(name string, data []byte) (*node, Problems) {
	var root yaml.Node
	if err := yaml.Load(data, &root); err != nil {
		problems := yamlProblems(name, err)
		for i, p := range problems {
			if tabbed(data, p.At.Line) {
				problems[i].Say = "not YAML: the line is indented with a tab; indent with spaces"
			}
		}
		return nil, problems
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) == 0 {
		return nil, Problems{{At: Origin{name, 1, 1}, Say: "the file is empty; write at least: version: 1"}}
	}
	b := builder{name: name}
	n := b.build(root.Content[0], 0)
	if b.endless {
		n = nil
	}
	return n, b.problems
}

// tabbed reports whether a line, counted from 1, is indented with a tab, which YAML does not take.
func tabbed(data []byte, line int) bool {
	lines := strings.Split(string(data), "\n")
	if line > len(lines) {
		return false
	}
	text := lines[line-1]
	return strings.Contains(text[:len(text)-len(strings.TrimLeft(text, " \t"))], "\t")
}

// yamlProblems gives each of the parser's complaints its place.
func yamlProblems(name string, err error) Problems {
	var many *yaml.LoadErrors
	if errors.As(err, &many) {
		var out Problems
		for _, one := range many.Errors {
			out = append(out, yamlProblem(name, one))
		}
		if len(out) > 0 {
			return out
		}
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		return Problems{yamlProblem(name, one)}
	}
	return Problems{{At: Origin{name, 1, 1}, Say: "not YAML: " + err.Error()}}
}

func yamlProblem(name string, err *yaml.LoadError) Problem {
	at := Origin{name, max(err.Mark.Line, 1), max(err.Mark.Column, 1)}
	switch {
	case strings.Contains(err.Message, "no documents"):
		return Problem{At: at, Say: "the file is empty; write at least: version: 1"}
	case strings.Contains(err.Message, "found multiple"):
		return Problem{At: at, Say: "the file holds several YAML documents; keep one"}
	}
	say := "not YAML: " + strings.TrimPrefix(err.Message, "yaml: ")
	if err.ContextMsg != "" {
		say += ", " + err.ContextMsg
	}
	return Problem{At: at, Say: say}
}

// builder turns parsed YAML into nodes of ours.
type builder struct {
	name     string
	problems Problems
	endless  bool // it is too deep or too large, which was said; what was read of it is not worth a check
}

func (b *builder) complain(at Origin, format string, args ...any) {
	b.problems = append(b.problems, Problem{At: at, Say: fmt.Sprintf(format, args...)})
}

var yamlKinds = map[string]kind{
	"!!null": null, "!!str": text, "!!int": integer, "!!float": float, "!!bool": boolean,
	"!!timestamp": text, // a date is text to us
}

func (b *builder) build(y *yaml.Node, depth int) *node {
	n := &node{at: Origin{b.name, y.Line, y.Column}, value: y.Value}
	switch {
	case depth > deepest:
		if !b.endless {
			b.complain(n.at, "nested more than %d deep", deepest)
		}
		b.endless = true
	case y.Kind == yaml.ScalarNode:
		known, ok := yamlKinds[y.Tag]
		if !ok {
			b.complain(n.at, "the tag %s is not understood", y.Tag)
		}
		n.kind = known
	case y.Kind == yaml.SequenceNode:
		n.kind = list
		for _, item := range y.Content {
			n.items = append(n.items, b.build(item, depth+1))
		}
	case y.Kind == yaml.MappingNode:
		n.kind = mapping
		for i := 0; i+1 < len(y.Content); i += 2 {
			b.pair(n, y.Content[i], y.Content[i+1], depth)
		}
	case y.Kind == yaml.AliasNode:
		b.complain(n.at, "aliases (*%s) are not understood; write the value out", y.Value)
	}
	return n
}

func (b *builder) pair(n *node, key, value *yaml.Node, depth int) {
	at := Origin{b.name, key.Line, key.Column}
	if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
		b.complain(at, "a key must be a plain word")
		return
	}
	b.add(n, &entry{key.Value, at, b.build(value, depth+1)})
}

// mostKeys bounds one mapping; the largest of ours has some thirty keys.
const mostKeys = 1000

// add appends an entry to a mapping unless its name is there already.
func (b *builder) add(n *node, e *entry) {
	if len(n.keys) >= mostKeys {
		if !b.endless {
			b.complain(e.at, "a mapping of more than %d keys", mostKeys)
		}
		b.endless = true
		return
	}
	if first := n.find(e.name); first != nil {
		b.complain(e.at, "%s: duplicate key; it is already in line %d", e.name, first.at.Line)
		return
	}
	n.keys = append(n.keys, e)
}
