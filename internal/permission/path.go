package permission

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// allWithin reports whether there is a path, and every one is in one of dirs.
func (p Policy) allWithin(paths, dirs []string) bool {
	for _, path := range paths {
		real, ok := p.resolve(path)
		if !ok || !slices.ContainsFunc(dirs, func(dir string) bool { return within(dir, real) }) {
			return false
		}
	}
	return len(paths) > 0
}

// within reports whether a resolved path is dir or below it.
func within(dir, path string) bool {
	if dir == "" {
		return false
	}
	name, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(name)
}

// resolve finds where a path leads: links and dots are followed as far as anything exists. A path that a tool
// might read otherwise than we do has no answer.
func (p Policy) resolve(path string) (string, bool) {
	if path == "" || strings.ContainsAny(path, "\x00\r\n") || strings.HasPrefix(path, "~") {
		return "", false
	}
	if !filepath.IsAbs(path) {
		if p.Dir == "" {
			return "", false
		}
		path = p.Dir + "/" + path // not Join: what stands before ".." may be a link
	}
	return follow(path)
}

// follow resolves an absolute path whose last elements may not exist yet.
func follow(path string) (string, bool) {
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), true
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", false
		}
		if _, err := os.Lstat(path); err == nil {
			return "", false // a link to what does not exist: it could be made anywhere
		}
		path = strings.TrimRight(path, "/")
		cut := strings.LastIndexByte(path, '/')
		if cut < 0 {
			return "", false
		}
		last := path[cut+1:]
		if last == ".." {
			return "", false
		}
		if last != "." {
			rest = filepath.Join(last, rest)
		}
		if path = path[:cut]; path == "" {
			path = "/"
		}
	}
}
