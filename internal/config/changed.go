package config

import (
	"reflect"
)

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
	one, other := reflect.ValueOf(a), reflect.ValueOf(b)
	for _, key := range Keys() {
		v, w := at(one, key), at(other, key)
		if isEmpty(v) && isEmpty(w) { // an empty list means what none means
			continue
		}
		if !reflect.DeepEqual(v.Interface(), w.Interface()) {
			keys = append(keys, key)
		}
	}
	return keys
}

func isEmpty(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}
