package config

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"
)

//go:embed reference.head.md
var referenceHead string

// Reference returns docs/configuration.md: a table of keys for each section.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	all := reflect.ValueOf(Defaults())
	for _, f := range fields(all.Type()) {
		fmt.Fprintf(&b, "\n## `%s`\n\n%s.\n\n", f.name, strings.ToUpper(f.doc[:1])+f.doc[1:])
		b.WriteString("| Key | Type | Default | What it is | Environment |\n|---|---|---|---|---|\n")
		value := all.FieldByIndex(f.index)
		if !isSection(f.typ) {
			row(&b, leaf{f, f.name}, value)
			continue
		}
		for _, l := range leavesOf(f.inside(), "") {
			l.path = join(f.name, l.path)
			row(&b, l, at(all, l.path))
		}
	}
	return b.String()
}

func row(b *strings.Builder, l leaf, value reflect.Value) {
	cells := []string{"`" + l.path + "`", typeName(l.typ), "`" + flow(value) + "`", l.doc, variables(l.env)}
	if isSecret(l.typ) || flow(value) == `""` || flow(value) == "null" {
		cells[2] = ""
	}
	writeRow(b, cells)
	if entry := entryOf(l.typ); entry != nil {
		for _, key := range leaves(entry) {
			writeRow(b, []string{"`" + l.path + "[]." + key.path + "`", typeName(key.typ), "", key.doc, ""})
		}
	}
}

func writeRow(b *strings.Builder, cells []string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func variables(env []string) string {
	if len(env) == 0 {
		return ""
	}
	return "`" + strings.Join(env, "`, `") + "`"
}

func typeName(t reflect.Type) string {
	switch {
	case isSecret(t):
		return "secret"
	case t.Kind() == reflect.Slice:
		if isSection(t.Elem()) {
			return "list of mappings"
		}
		return "list of texts"
	case t.Kind() == reflect.Map:
		return "mapping"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Float64:
		return "number"
	}
	return "whole number"
}
