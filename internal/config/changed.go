package config

import "reflect"

// Keys lists every key that holds a value, in the order of the reference. Keys of list entries are not among them.
func Keys() []string {
	var keys []string
	for _, l := range leaves(reflect.TypeFor[Config]()) {
		keys = append(keys, l.path)
	}
	return keys
}

// Changed lists the keys whose values differ, in the order of the reference.
func Changed(a, b Config) []string {
	var keys []string
	before := values(a)
	for i, now := range values(b) {
		v, w := before[i].value, now.value
		if isEmpty(v) && isEmpty(w) { // an empty list means what none means
			continue
		}
		if !reflect.DeepEqual(v.Interface(), w.Interface()) {
			keys = append(keys, now.path)
		}
	}
	return keys
}

// valued is a key and what it holds.
type valued struct {
	leaf
	value reflect.Value
}

// values lists every key of a configuration with its value, in the order of the reference.
func values(c Config) []valued {
	var out []valued
	var walk func(list []field, v reflect.Value, prefix string)
	walk = func(list []field, v reflect.Value, prefix string) {
		for _, f := range list {
			path, value := join(prefix, f.name), v.FieldByIndex(f.index)
			if isSection(f.typ) {
				walk(f.inside(), value, path)
				continue
			}
			out = append(out, valued{leaf{f, path}, value})
		}
	}
	walk(fields(reflect.TypeFor[Config]()), reflect.ValueOf(c), "")
	return out
}

func isEmpty(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}
