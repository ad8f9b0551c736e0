package config

import (
	"encoding"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"familiar/internal/secret"
)

// longestMs bounds every duration: a year. What is hundreds of times longer does not fit into a time.Duration, and
// would be over before it began.
const longestMs = 366 * 24 * 3600 * 1000

// decoder puts nodes into structs by their types, and remembers what is wrong and where each value came from.
type decoder struct {
	env      map[string]string
	problems Problems
	literals map[string]string // by file, the path of a secret that is written out in it
	unset    []unset           // secrets whose source is empty: worth a word, and an error only where one is required
	origins  map[string]Origin

	secretFiles []string // what file:PATH names
}

// unset is a secret that was to come from a variable which is not set.
type unset struct {
	Problem
	variable string
}

func (d *decoder) wrong(at Origin, path, format string, args ...any) {
	d.problems = append(d.problems, Problem{at, path, fmt.Sprintf(format, args...)})
}

// decode sets v from n. Null leaves the default that v holds; so does every value that is wrong.
func (d *decoder) decode(path string, n *node, v reflect.Value) {
	if n.kind == null {
		return
	}
	if n.loose && n.value == "" && n.scalar() && v.Kind() != reflect.String && !readsText(v.Type()) {
		return // a variable that is not set: as if the key were not there
	}
	switch {
	case isSecret(v.Type()):
		d.secret(path, n, v)
	case readsJSON(v.Type()):
		if err := v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(n.json()); err != nil {
			d.wrong(n.at, path, "%v", err)
		}
	case readsText(v.Type()) && n.scalar():
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.value)); err != nil {
			d.wrong(n.at, path, "%v", err)
		}
	case v.Kind() == reflect.Struct:
		d.section(path, n, v)
		return
	case v.Kind() == reflect.Slice:
		d.list(path, n, v)
	case v.Kind() == reflect.Map:
		d.dict(path, n, v)
	default:
		d.scalar(path, n, v)
	}
	d.origins[path] = n.at
}

func (d *decoder) section(path string, n *node, v reflect.Value) {
	if n.kind != mapping {
		d.wrong(n.at, path, "expected a mapping, found %s", n.kind)
		return
	}
	known := fields(v.Type())
	for _, e := range n.keys {
		i := find(known, e.name)
		if i < 0 {
			d.unknown(path, e, known)
			continue
		}
		d.decode(join(path, e.name), e.value, v.FieldByIndex(known[i].index))
	}
}

func find(list []field, name string) int {
	for i, f := range list {
		if f.name == name {
			return i
		}
	}
	return -1
}

// unknown tells a key that has yet to be built, one that has moved, and a mistyped one apart.
func (d *decoder) unknown(section string, e *entry, known []field) {
	path := join(section, e.name)
	moved := movedKeys[path]
	switch {
	case path == "skills" && e.value.kind == mapping: // an older word for skill; a list of skills is another thing
		d.wrong(e.at, path, "unknown key; it is skill here")
	case isLater(path):
		d.wrong(e.at, path, "is not in this build")
	case moved != "":
		d.wrong(e.at, path, "unknown key; it is %s here", moved)
	default:
		d.wrong(e.at, path, "unknown key%s", didYouMean(nearest(e.name, names(known))))
	}
}

func didYouMean(word string) string {
	if word == "" {
		return ""
	}
	return "; did you mean " + word + "?"
}

func (d *decoder) list(path string, n *node, v reflect.Value) {
	if n.kind != list {
		d.wrong(n.at, path, "expected a list, found %s", found(n))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if item.kind == null {
			d.wrong(item.at, at, "the entry is empty; fill it in or remove it")
			continue
		}
		d.decode(at, item, out.Index(i))
	}
	v.Set(out)
}

func (d *decoder) dict(path string, n *node, v reflect.Value) {
	if n.kind != mapping {
		d.wrong(n.at, path, "expected a mapping, found %s", found(n))
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.keys))
	for _, e := range n.keys {
		value := reflect.New(v.Type().Elem()).Elem()
		d.decode(join(path, e.name), e.value, value)
		out.SetMapIndex(reflect.ValueOf(e.name), value)
	}
	v.Set(out)
}

// scalar sets a text, a number or a switch. A number may stand where text is expected, as ids are written; what
// came from the environment is read by the type of the key and by nothing else.
func (d *decoder) scalar(path string, n *node, v reflect.Value) {
	switch {
	case !n.scalar():
		d.wrong(n.at, path, "expected %s, found %s", expected(v.Kind()), found(n))
	case v.Kind() == reflect.String:
		if n.kind == boolean {
			d.wrong(n.at, path, "expected text, found %s; put it in quotes if it is text", n.value)
			return
		}
		v.SetString(n.value)
	case v.Kind() == reflect.Bool:
		on, ok := readBool(n)
		if !ok {
			d.wrong(n.at, path, "%q is not true or false", n.value)
			return
		}
		v.SetBool(on)
	case v.CanInt():
		i, err := strconv.ParseInt(n.value, 10, v.Type().Bits())
		switch {
		case err == nil && n.kind == text && !n.loose:
			d.wrong(n.at, path, "%q is text; write it without quotes", n.value)
			return
		case err != nil:
			d.wrong(n.at, path, "%q is not a whole number%s", n.value, sizeHint(v.Type(), err))
			return
		}
		if strings.HasSuffix(path, "Ms") && i > longestMs {
			d.wrong(n.at, path, "%d is more than a year in milliseconds", i)
			return
		}
		v.SetInt(i)
	case v.CanFloat():
		f, err := strconv.ParseFloat(n.value, v.Type().Bits())
		if err != nil || n.kind == text && !n.loose {
			d.wrong(n.at, path, "%q is not a number", n.value)
			return
		}
		v.SetFloat(f)
	default:
		d.wrong(n.at, path, "is of a type that cannot be configured")
	}
}

func sizeHint(t reflect.Type, err error) string {
	if err != nil && strings.Contains(err.Error(), strconv.ErrRange.Error()) {
		return fmt.Sprintf(" of %d bits", t.Bits())
	}
	return ""
}

// readBool takes true and false; from the environment, where there are no types, 1 and 0 too.
func readBool(n *node) (on, ok bool) {
	if n.kind == boolean || n.loose {
		switch strings.ToLower(strings.TrimSpace(n.value)) {
		case "true":
			return true, true
		case "false":
			return false, true
		case "1":
			return true, n.loose
		case "0":
			return false, n.loose
		}
	}
	return false, false
}

func expected(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// found describes a node that stands where something else was expected.
func found(n *node) string {
	if n.scalar() && n.kind != null {
		return fmt.Sprintf("%q", n.value)
	}
	return n.kind.String()
}

// secret takes a secret as it is written, from env:NAME, or from file:PATH beside the file that names it. Only what
// a file of configuration says is looked up: a variable holds the secret itself.
func (d *decoder) secret(path string, n *node, v reflect.Value) {
	if !n.scalar() || n.kind == boolean {
		d.wrong(n.at, path, "expected text, env:NAME or file:PATH, found %s", n.kind)
		return
	}
	value := n.value
	if n.at.Line > 0 {
		if name, ok := strings.CutPrefix(value, "env:"); ok {
			value = d.env[name]
			if value == "" {
				d.unset = append(d.unset, unset{Problem{n.at, path, fmt.Sprintf("the variable %s is not set", name)}, name})
			}
		} else if file, ok := strings.CutPrefix(value, "file:"); ok {
			value = d.secretFile(path, n, file)
		} else if value != "" && !n.loose {
			d.literals[n.at.Name] = path
		}
	}
	v.Set(reflect.ValueOf(secret.New(value)))
}

// largestSecret bounds a file that holds one secret, in bytes.
const largestSecret = 64 << 10

func (d *decoder) secretFile(path string, n *node, file string) string {
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(n.at.Name), file)
	}
	d.secretFiles = append(d.secretFiles, file)
	data, err := readBounded(file, largestSecret)
	if err != nil {
		d.wrong(n.at, path, "%s: %v", file, err)
	}
	return string(data)
}
