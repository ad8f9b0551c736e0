package config

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// flow writes a value on one line as JSON, which is YAML too, by the names of the keys. Secrets, and the values of
// variables and headers, are masked.
func flow(v reflect.Value) string {
	var b strings.Builder
	writeFlow(&b, v)
	return b.String()
}

func writeFlow(b *strings.Builder, v reflect.Value) {
	switch {
	case readsJSON(v.Type()) || v.Kind() != reflect.Struct && v.Kind() != reflect.Slice && v.Kind() != reflect.Map || isSecret(v.Type()):
		encoded, err := json.Marshal(v.Interface())
		if err != nil {
			encoded = []byte("null") // no value of ours fails to marshal
		}
		b.Write(encoded)
	case v.Kind() == reflect.Struct:
		b.WriteByte('{')
		for i, f := range fields(v.Type()) {
			separate(b, i)
			b.WriteString(quote(f.name) + ": ")
			writeFlow(b, hide(f.name, v.FieldByIndex(f.index)))
		}
		b.WriteByte('}')
	case v.Kind() == reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			separate(b, i)
			writeFlow(b, v.Index(i))
		}
		b.WriteByte(']')
	default:
		writeDict(b, v)
	}
}

// writeDict writes a mapping with free keys, in their order, its texts masked: they are variables and headers.
func writeDict(b *strings.Builder, v reflect.Value) {
	b.WriteByte('{')
	keys := make(map[string]reflect.Value, v.Len())
	for _, key := range v.MapKeys() {
		keys[key.String()] = v.MapIndex(key)
	}
	for i, name := range slices.Sorted(maps.Keys(keys)) {
		separate(b, i)
		b.WriteString(quote(name) + ": ")
		if keys[name].Kind() == reflect.String {
			b.WriteString(quote(hidden))
			continue
		}
		writeFlow(b, keys[name])
	}
	b.WriteByte('}')
}

func separate(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteString(", ")
	}
}

func quote(s string) string {
	quoted, _ := json.Marshal(s) // a string always marshals
	return string(quoted)
}

// bare are texts that mean themselves in YAML without quotes, whatever else may be taken for true or null.
var bare = regexp.MustCompile(`^"[A-Za-z][A-Za-z0-9./_-]*"$`)

// plain is flow without quotes where YAML needs none.
func plain(v reflect.Value) string {
	s := flow(v)
	if !bare.MatchString(s) {
		return s
	}
	switch word := strings.Trim(s, `"`); strings.ToLower(word) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return s
	default:
		return word
	}
}
