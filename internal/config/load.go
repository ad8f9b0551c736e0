package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"familiar/internal/secret"
	"familiar/internal/setting"
)

// Where says what to load: the configuration of a directory, or the one file that was asked for. Set is laid over
// everything else.
type Where struct {
	Dir  string
	File string
	Set  []Override
	Look bool // nothing is started: a value that is wrong only for want of a variable is told in Loaded.Absent
}

// Override is a value from the command line, in the words of the environment.
type Override struct {
	Name  string // as in "flag --port"
	Path  string
	Value string
}

// Loaded is a configuration that passed its check.
type Loaded struct {
	Config      Config
	Warnings    Problems
	Secrets     []secret.Value // every secret in it, for the vault that masks them
	Files       []string       // the files that were read, lowest layer first
	Watched     []string       // the files that would make another configuration if they changed; not all are there
	Absent      []string       // the variables whose want was forgiven, for Where.Look
	Environment string         // production, development, …
	Dir         string         // what relative paths are relative to

	origins map[string]Origin
}

// Path resolves a path of the configuration; an empty one stays empty.
func (l Loaded) Path(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.Dir, path)
}

// Load reads, merges and checks. The error is a Problems with everything that is wrong, in the order of the files;
// it names keys and places and never the value of a secret. A directory without configuration gives the defaults.
func Load(w Where, environ []string) (Loaded, error) {
	env := table(environ)
	l := Loaded{Environment: environment(env), Dir: w.Dir, origins: make(map[string]Origin)}
	if w.File != "" {
		l.Dir = filepath.Dir(w.File)
	}
	files, problems := w.find(l.Environment)
	l.Files, l.Watched = files, w.candidates(l.Environment)
	root, more, whole := l.layers(env)
	if len(problems) > 0 || !whole {
		return Loaded{}, append(problems, more...)
	}
	l.Config = Defaults()
	switchPlatforms(root, &l.Config)
	warnings, used := overrides(root, env)
	l.Warnings = append(l.Warnings, warnings...)
	if len(files) == 0 && used {
		l.Warnings = append(l.Warnings, Problem{Say: "no configuration file; everything comes from the environment and the defaults"})
	}
	for _, set := range w.Set {
		root.set(set.Path, &node{at: Origin{Name: set.Name}, kind: text, value: set.Value, loose: true})
	}
	if err := l.fill(root, env, more, w.Look); err != nil {
		return Loaded{}, err
	}
	return l, nil
}

// layers reads the files and lays them over each other, with the environment put into their texts. It reports
// whether every file could be read to its end; only then is the rest worth a check.
func (l *Loaded) layers(env map[string]string) (root *node, problems Problems, whole bool) {
	root, whole = &node{kind: mapping}, true
	for _, file := range l.Files {
		n, more := parseFile(file)
		problems = append(problems, more...)
		if n == nil {
			whole = false
			continue
		}
		x := expander{env: env}
		x.walk(n)
		problems = append(problems, x.problems...)
		l.Warnings = append(l.Warnings, x.unset...)
		root = merge(root, n)
	}
	if len(l.Files) > 0 && root.find("version") == nil {
		l.Warnings = append(l.Warnings, Problem{At: Origin{Name: l.Files[0]}, Path: "version", Say: "is not there; 1 is assumed"})
	}
	return root, problems, whole
}

// fill turns the tree into the configuration and checks it. Problems that are known already are told with the rest.
func (l *Loaded) fill(root *node, env map[string]string, known Problems, look bool) error {
	d := decoder{env: env, origins: l.origins, literals: make(map[string]string), problems: known}
	d.decode("", root, reflect.ValueOf(&l.Config).Elem())

	var report setting.Report
	l.Config.Check(&report)
	l.checkPaths(&report)
	l.Config.Bot.checkLocal(report.At("bot"), env["TZ"])
	refuseLater(&report, l.Config)
	for _, p := range report.Problems() {
		at := l.origin(root, p)
		problem := Problem{at, p.Path, p.Say}
		if p.Severity == setting.Warning {
			l.Warnings = append(l.Warnings, problem)
		} else if !slices.ContainsFunc(d.problems, func(q Problem) bool { return covers(q, p) }) {
			problem.Say += d.hint(root, p)
			if name := d.wants(root, p.Path); look && name != "" {
				l.forgive(problem, name)
				continue
			}
			d.problems = append(d.problems, problem)
		}
	}
	for _, u := range d.unset {
		if !slices.ContainsFunc(l.Warnings, func(w Problem) bool { return w.At == u.At }) {
			l.Warnings = append(l.Warnings, u.Problem)
		}
	}
	l.Watched = append(l.Watched, d.secretFiles...)
	l.checkModes(d.literals)
	if len(d.problems) > 0 {
		inOrder(d.problems)
		return d.problems
	}
	l.Secrets = secrets(reflect.ValueOf(l.Config), "")
	return nil
}

// covers reports whether a problem that is told already says enough about another one: of the same key, or of a platform
// where for want of it none is on.
func covers(told Problem, p setting.Problem) bool {
	return told.Path == p.Path || p.Path == "platforms" && strings.HasPrefix(told.Path, "platforms.")
}

// origin finds where the value with a problem was written. A value that is missing has the place of its section.
func (l *Loaded) origin(root *node, p setting.Problem) Origin {
	if at, ok := l.origins[p.Path]; ok {
		return at
	}
	at := root.place(p.Path)
	if at.Name == "" && p.Missing && len(l.Files) > 0 {
		at = Origin{Name: l.Files[0]}
	}
	return at
}

// forgive makes a warning of a problem that comes of a variable which is not set, in the place of the word about that
// variable alone.
func (l *Loaded) forgive(p Problem, variable string) {
	l.Warnings = append(slices.DeleteFunc(l.Warnings, func(w Problem) bool { return w.At == p.At }), p)
	if !slices.Contains(l.Absent, variable) {
		l.Absent = append(l.Absent, variable)
	}
}

// wants returns the variable that a value was to come from and that is not set, or "".
func (d *decoder) wants(root *node, path string) string {
	if name := root.unsetAt(path); name != "" {
		return name
	}
	for _, u := range d.unset {
		if u.Path == path {
			return u.variable
		}
	}
	return ""
}

// hint says which variable a value was to come from, and how a required one can be given besides the file.
func (d *decoder) hint(root *node, p setting.Problem) string {
	if name := d.wants(root, p.Path); name != "" {
		return fmt.Sprintf("; the variable %s is not set", name)
	}
	if !p.Missing {
		return ""
	}
	for _, f := range leaves(reflect.TypeFor[Config]()) {
		if f.path == p.Path && len(f.env) > 0 {
			return "; write it in the file or set " + f.env[0]
		}
	}
	return ""
}

// confidential are words in the name of a variable or header whose value is to be masked like a secret.
var confidential = []string{"token", "key", "secret", "password", "auth"}

// secrets collects every secret below v, and values of mappings that are named like one.
func secrets(v reflect.Value, name string) []secret.Value {
	var out []secret.Value
	switch {
	case isSecret(v.Type()):
		if s := v.Interface().(secret.Value); s.Set() {
			out = append(out, s)
		}
	case v.Kind() == reflect.Struct:
		for _, f := range fields(v.Type()) {
			out = append(out, secrets(v.FieldByIndex(f.index), "")...)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			out = append(out, secrets(v.Index(i), "")...)
		}
	case v.Kind() == reflect.Map:
		for _, key := range v.MapKeys() {
			out = append(out, secrets(v.MapIndex(key), fmt.Sprint(key))...)
		}
	case v.Kind() == reflect.String && name != "":
		for _, word := range confidential {
			if strings.Contains(strings.ToLower(name), word) {
				return append(out, secret.New(v.String()))
			}
		}
	}
	return out
}
