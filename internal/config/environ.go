package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// table makes a map of an environment as os.Environ returns it. Values are taken whole: quotes in them are part of
// the value, for whoever made the environment has stripped its own.
func table(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, line := range environ {
		if name, value, ok := strings.Cut(line, "="); ok {
			env[name] = value
		}
	}
	return env
}

// overrides lays the variables of the environment over the tree. One that is set and empty counts as not set. It
// returns what is worth a word, and whether any variable counted.
func overrides(root *node, env map[string]string) (warnings Problems, used bool) {
	for _, l := range leaves(reflect.TypeFor[Config]()) {
		for _, name := range l.env {
			if env[name] == "" {
				continue
			}
			n, problem := fromEnv(l, name, env)
			if n != nil {
				root.set(l.path, n)
				used = true
			}
			warnings = append(warnings, problem...)
			break
		}
	}
	return warnings, used
}

// fromEnv reads one variable by the type of its key: a list of words is split at commas, anything with more
// structure is JSON, and everything else stays text until the decoder meets its type.
func fromEnv(l leaf, name string, env map[string]string) (*node, Problems) {
	at := Origin{Name: "environment " + name}
	switch {
	case isSecret(l.typ) || l.typ.Kind() != reflect.Slice && l.typ.Kind() != reflect.Map:
		return &node{at: at, kind: text, value: env[name], loose: true}, nil
	case l.typ.Kind() == reflect.Slice && l.typ.Elem().Kind() == reflect.String:
		n := &node{at: at, kind: list}
		for _, word := range strings.Split(env[name], ",") {
			if word = strings.TrimSpace(word); word != "" {
				n.items = append(n.items, &node{at: at, kind: text, value: word, loose: true})
			}
		}
		return n, nil
	}
	return structured(l, at, env[name], env)
}

// structured parses JSON. What is not JSON, or not of the right form, is left out: the value of the file stays.
func structured(l leaf, at Origin, value string, env map[string]string) (*node, Problems) {
	want := list
	if l.typ.Kind() == reflect.Map {
		want = mapping
	}
	if !json.Valid([]byte(value)) {
		return nil, Problems{{at, l.path, "is not JSON; the variable is left out"}}
	}
	n, problems := parseJSON(at.Name, []byte(value))
	if n == nil || len(problems) > 0 {
		return nil, append(problems, Problem{at, l.path, "the variable is left out"})
	}
	if n.kind != want {
		return nil, Problems{{at, l.path, fmt.Sprintf("is not %s; the variable is left out", want)}}
	}
	x := expander{env: env}
	x.walk(n)
	n.moveTo(at)
	return n, slices.Concat(x.problems, x.unset)
}

// moveTo gives a whole tree one origin: a place inside a variable helps nobody.
func (n *node) moveTo(at Origin) {
	n.at = at
	for _, item := range n.items {
		item.moveTo(at)
	}
	for _, e := range n.keys {
		e.at = at
		e.value.moveTo(at)
	}
}
