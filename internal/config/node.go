package config

import (
	"encoding/json"
	"strconv"
	"strings"
)

// kind is the form of a node.
type kind int

const (
	null kind = iota
	text
	integer
	float
	boolean
	list
	mapping
)

func (k kind) String() string {
	return [...]string{"nothing", "text", "a whole number", "a number", "true or false", "a list", "a mapping"}[k]
}

// node is one value of the configuration before it has a type, and where it was written. Files of both formats and
// the environment become nodes, so that layers merge without losing their places.
type node struct {
	at    Origin
	kind  kind
	value string // of a scalar, as written
	loose bool   // from the environment or from ${NAME}: the key's type decides what it is, not its looks
	unset string // the first variable in the value that is not set
	keys  []*entry
	items []*node
}

// entry is one key of a mapping.
type entry struct {
	name  string
	at    Origin
	value *node
}

func (n *node) scalar() bool { return n.kind != list && n.kind != mapping }

// find returns the entry called name, or nil.
func (n *node) find(name string) *entry {
	if n == nil {
		return nil
	}
	for _, e := range n.keys {
		if e.name == name {
			return e
		}
	}
	return nil
}

// put sets name in a mapping.
func (n *node) put(name string, value *node) {
	if e := n.find(name); e != nil {
		e.value, e.at = value, value.at
		return
	}
	n.keys = append(n.keys, &entry{name, value.at, value})
}

// merge lays over on base: mappings join, everything else is replaced whole, also by an explicit null.
func merge(base, over *node) *node {
	if base == nil || base.kind != mapping || over.kind != mapping {
		return over
	}
	for _, e := range over.keys {
		if old := base.find(e.name); old != nil {
			old.value, old.at = merge(old.value, e.value), e.at
		} else {
			base.keys = append(base.keys, e)
		}
	}
	return base
}

// set lays a value at a dotted path, making the mappings on the way.
func (n *node) set(path string, value *node) {
	first, rest, more := strings.Cut(path, ".")
	if !more {
		n.put(first, value)
		return
	}
	e := n.find(first)
	if e == nil || e.value.kind != mapping {
		n.put(first, &node{at: value.at, kind: mapping})
		e = n.find(first)
	}
	e.value.set(rest, value)
}

// place returns where a dotted path is written: its key, or the nearest mapping above it that is.
func (n *node) place(path string) Origin {
	at := n.at
	for _, step := range steps(path) {
		if i, ok := index(step); ok {
			if i >= len(n.items) {
				return at
			}
			n = n.items[i]
			at = n.at
			continue
		}
		e := n.find(step)
		if e == nil {
			return at
		}
		n, at = e.value, e.at
	}
	return at
}

// unsetAt returns the variable that the value at a dotted path was to come from and that is not set, or "".
func (n *node) unsetAt(path string) string {
	for _, step := range steps(path) {
		if i, ok := index(step); ok {
			if i >= len(n.items) {
				return ""
			}
			n = n.items[i]
			continue
		}
		e := n.find(step)
		if e == nil {
			return ""
		}
		n = e.value
	}
	return n.unset
}

// steps cuts access.channels[2].id into access, channels, [2], id.
func steps(path string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(path, "[", ".["), func(r rune) bool { return r == '.' })
}

func index(step string) (int, bool) {
	if !strings.HasPrefix(step, "[") {
		return 0, false
	}
	i, err := strconv.Atoi(strings.Trim(step, "[]"))
	return i, err == nil && i >= 0
}

// json writes a node as JSON, for types that read themselves from it.
func (n *node) json() []byte {
	var b strings.Builder
	n.writeJSON(&b)
	return []byte(b.String())
}

func (n *node) writeJSON(b *strings.Builder) {
	switch n.kind {
	case null:
		b.WriteString("null")
	case integer, float, boolean:
		if json.Valid([]byte(n.value)) {
			b.WriteString(n.value)
			return
		}
		b.WriteString(strconv.Quote(n.value))
	case text:
		quoted, _ := json.Marshal(n.value) // a string always marshals
		b.Write(quoted)
	case list:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.writeJSON(b)
		}
		b.WriteByte(']')
	case mapping:
		b.WriteByte('{')
		for i, e := range n.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			name, _ := json.Marshal(e.name)
			b.Write(append(name, ':'))
			e.value.writeJSON(b)
		}
		b.WriteByte('}')
	}
}
