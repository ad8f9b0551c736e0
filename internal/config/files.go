package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"unicode/utf8"
)

// largest bounds a configuration file, in bytes. A full one of every section has some 20 KiB.
const largest = 1 << 20

// environmentNames are the variables that may name the environment, first one wins.
var environmentNames = []string{"FAMILIAR_ENV", "APP_ENV", "DENO_ENV", "ENV"}

// plainName keeps a variable that means something else (many shells read a path from ENV) out of file names.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// environment returns which config.<ENV>.yaml applies.
func environment(env map[string]string) string {
	for _, name := range environmentNames {
		if plainName.MatchString(env[name]) {
			return env[name]
		}
	}
	return "development"
}

// find names the files to read, lowest layer first. None at all is no problem, unless a file was asked for.
func (w Where) find(environment string) ([]string, Problems) {
	stem := filepath.Join(w.Dir, "config")
	var base string
	var problems Problems
	if w.File != "" {
		base = w.File
		stem = strings.TrimSuffix(base, filepath.Ext(base))
		if _, err := os.Stat(base); err != nil {
			return nil, Problems{{At: Origin{Name: base}, Say: errors.Unwrap(err).Error()}}
		}
	} else {
		// What is wrong with the directory is not to be told of every file that could lie in it.
		if _, err := os.Stat(w.Dir + "/."); w.Dir != "" && err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, Problems{{At: Origin{Name: w.Dir}, Say: "look for the configuration: " + errors.Unwrap(err).Error()}}
		}
		base, problems = one(stem)
		for _, ext := range []string{".yml", ".toml", ".jsonc"} {
			if exists(stem + ext) {
				problems = append(problems, Problem{At: Origin{Name: stem + ext},
					Say: "is not read; the file must be called config.yaml or config.json"})
			}
		}
	}
	over, more := one(stem + "." + environment)
	var files []string
	for _, file := range []string{base, over} {
		if file != "" {
			files = append(files, file)
		}
	}
	return files, append(problems, more...)
}

// candidates names the files that find looks for.
func (w Where) candidates(environment string) []string {
	stem := filepath.Join(w.Dir, "config")
	all := []string{stem + ".yaml", stem + ".json"}
	if w.File != "" {
		stem = strings.TrimSuffix(w.File, filepath.Ext(w.File))
		all = []string{w.File}
	}
	return append(all, stem+"."+environment+".yaml", stem+"."+environment+".json")
}

// one returns the file of a stem, YAML or JSON; both at once are refused, for one of them would silently not count.
func one(stem string) (string, Problems) {
	switch yes, no := stem+".yaml", stem+".json"; {
	case exists(yes) && exists(no):
		return "", Problems{{At: Origin{Name: no}, Say: fmt.Sprintf("stands beside %s; keep one of the two", filepath.Base(yes))}}
	case exists(yes):
		return yes, nil
	case exists(no):
		return no, nil
	}
	return "", nil
}

// exists counts a link that leads nowhere: reading it will fail, and starting without it would be a surprise.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// parseFile reads a file into nodes.
func parseFile(path string) (*node, Problems) {
	data, err := readBounded(path, largest)
	if err != nil {
		return nil, Problems{{At: Origin{Name: path}, Say: err.Error()}}
	}
	if !utf8.Valid(data) {
		return nil, Problems{{At: Origin{Name: path}, Say: "is not UTF-8 text"}}
	}
	data = []byte(strings.TrimPrefix(string(data), "\ufeff"))
	parse := parseYAML
	if filepath.Ext(path) == ".json" {
		parse = parseJSON
	}
	n, problems := parse(path, data)
	if n != nil && n.kind != mapping {
		problems = append(problems, Problem{At: n.at, Say: fmt.Sprintf("the file holds %s; expected a mapping such as: version: 1", n.kind)})
		n = nil
	}
	return n, problems
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read: %w", errors.Unwrap(err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a file")
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("is larger than %d KiB", limit>>10)
	}
	return data, nil
}
