package config

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"familiar/internal/secret"
)

// This file and the ones that use field are the only place that looks at settings by reflection: one description of
// the structs serves the check of names, the environment, the example, the schema and the reference alike.

// field is one key of a section.
type field struct {
	name  string
	doc   string
	env   []string // first one that is set wins
	under string   // how the variables of a section begin that stands in several places
	typ   reflect.Type
	index []int
}

// fields returns the keys of a struct in their order, those of inlined structs in place.
func fields(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if option == "inline" {
			for _, inner := range fields(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				out = append(out, inner)
			}
			continue
		}
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		one := field{name: name, doc: f.Tag.Get("doc"), under: f.Tag.Get("envunder"), typ: f.Type, index: []int{i}}
		if env := f.Tag.Get("env"); env != "" {
			one.env = strings.Split(env, ",")
		}
		out = append(out, one)
	}
	return out
}

// inside returns the keys of a section. One that stands in several places has variables of its own in each.
func (f field) inside() []field {
	list := fields(f.typ)
	for i := range list {
		list[i].under = f.under + list[i].under
		for j := range list[i].env {
			list[i].env[j] = f.under + list[i].env[j]
		}
	}
	return list
}

func names(list []field) []string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.name
	}
	return out
}

var (
	secretType = reflect.TypeFor[secret.Value]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonReader = reflect.TypeFor[json.Unmarshaler]()
)

func isSecret(t reflect.Type) bool { return t == secretType }

// readsText reports whether a scalar may stand for a value of t, whatever else may.
func readsText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textReader) }

func readsJSON(t reflect.Type) bool { return reflect.PointerTo(t).Implements(jsonReader) }

// isSection reports whether t is a mapping of named keys.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !isSecret(t) && !readsJSON(t)
}

// leaf is a key that holds a value and not a section.
type leaf struct {
	field
	path string
}

// leaves returns every key below t that holds a value, with its path. Keys of list entries are not among them: they
// have no path before there is a list.
func leaves(t reflect.Type) []leaf { return leavesOf(fields(t), "") }

func leavesOf(list []field, prefix string) []leaf {
	var out []leaf
	for _, f := range list {
		path := join(prefix, f.name)
		if isSection(f.typ) {
			out = append(out, leavesOf(f.inside(), path)...)
			continue
		}
		out = append(out, leaf{f, path})
	}
	return out
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}
