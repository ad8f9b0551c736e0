package config

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Setting is one value of the effective configuration, masked, and where it came from.
type Setting struct {
	Path   string          `json:"path"`
	Value  json.RawMessage `json:"value"`
	Origin string          `json:"origin"`
}

// Settings lists the effective configuration in the order of the reference.
func (l Loaded) Settings() []Setting {
	var out []Setting
	for _, f := range values(l.Config) {
		out = append(out, Setting{f.path, json.RawMessage(flow(hide(f.name, f.value))), l.origins[f.path].String()})
	}
	return out
}

// Show writes the effective configuration as YAML that could be loaded again, but for the masked secrets, with the
// origin of each value beside it.
func (l Loaded) Show(w io.Writer) error {
	var b strings.Builder
	l.show(&b, reflect.ValueOf(l.Config), "", 0)
	_, err := io.WriteString(w, b.String())
	return err
}

func (l Loaded) show(b *strings.Builder, v reflect.Value, prefix string, depth int) {
	indent := strings.Repeat("  ", depth)
	for _, f := range fields(v.Type()) {
		path, value := join(prefix, f.name), v.FieldByIndex(f.index)
		if isSection(f.typ) {
			fmt.Fprintf(b, "%s%s:\n", indent, f.name)
			l.show(b, value, path, depth+1)
			continue
		}
		fmt.Fprintf(b, "%s%s: %s  # %s\n", indent, f.name, plain(hide(f.name, value)), l.origins[path])
	}
}

// at returns the value at a dotted path of sections.
func at(v reflect.Value, path string) reflect.Value {
	for _, step := range strings.Split(path, ".") {
		known := fields(v.Type())
		v = v.FieldByIndex(known[find(known, step)].index)
	}
	return v
}
