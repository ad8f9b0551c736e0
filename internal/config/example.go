package config

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"
)

//go:embed example.head.yaml
var exampleHead string

// Example returns a configuration file with every key, what it is for, and its default. It loads to the defaults.
func Example() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	all := reflect.ValueOf(Defaults())
	writeExample(&b, fields(all.Type()), all, 0)
	return b.String()
}

func writeExample(b *strings.Builder, keys []field, v reflect.Value, depth int) {
	indent := strings.Repeat("  ", depth)
	for _, f := range keys {
		value := v.FieldByIndex(f.index)
		if depth == 0 {
			b.WriteByte('\n')
		}
		comment(b, indent, f.doc)
		if entry := entryOf(f.typ); entry != nil {
			for _, key := range leaves(entry) {
				comment(b, indent+"  ", "entry."+key.path+": "+key.doc)
			}
		}
		if len(f.env) > 0 {
			comment(b, indent, "environment: "+strings.Join(f.env, ", "))
		}
		if isSection(f.typ) {
			fmt.Fprintf(b, "%s%s:\n", indent, f.name)
			writeExample(b, f.inside(), value, depth+1)
			continue
		}
		fmt.Fprintf(b, "%s%s: %s\n", indent, f.name, plain(value))
	}
}

// entryOf returns the struct that entries of a list are, or nil.
func entryOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice && isSection(t.Elem()) {
		return t.Elem()
	}
	return nil
}

// widest is the longest line of a comment, in bytes.
const widest = 110

// comment writes doc as lines of comment.
func comment(b *strings.Builder, indent, doc string) {
	line := indent + "#"
	for _, word := range strings.Fields(doc) {
		if len(line)+1+len(word) > widest {
			b.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	if doc != "" {
		b.WriteString(line + "\n")
	}
}
