package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// The codes of errors in the arguments of a skill. Agents look for them.
const (
	codeUsage       = "SKILL_USAGE"
	codeLegacy      = "SKILL_LEGACY_FLAG"
	codeMissing     = "SKILL_MISSING_PAYLOAD"
	codeOutOfBounds = "SKILL_PAYLOAD_OUT_OF_BOUNDS"
	codeNotFound    = "SKILL_PAYLOAD_NOT_FOUND"
	codeSingle      = "SKILL_SINGLE_FILE_FLAG"
)

// maxPayload is the longest text that a skill takes, in bytes: far above any message, well below what the skill
// API reads once the text is written as JSON.
const maxPayload = 128 << 10

// usageError is a mistake in the arguments, with the way to mend it.
type usageError struct {
	Code    string `json:"code"`
	Say     string `json:"error"`
	Example string `json:"example"`
}

func (e usageError) Error() string { return e.Code + ": " + e.Say }

// text is a payload that was read; used removes the file that it came from, if any.
type text struct {
	value string
	used  func()
}

// readPayload reads free text from a file inside the temporary folder, or from standard input for "-".
// A shell expands what stands on a command line, so the text itself never does.
func readPayload(from string, stdin io.Reader) (text, error) {
	if from == "-" {
		value, err := readText(stdin, "standard input")
		return text{value, func() {}}, err
	}
	tmp := os.Getenv("TMPDIR")
	if tmp == "" {
		return text{}, usageError{Code: codeOutOfBounds, Say: "TMPDIR is not set, so no file can be read; give the text on standard input"}
	}
	base, err := filepath.EvalSymlinks(tmp)
	if err != nil {
		return text{}, usageError{Code: codeOutOfBounds, Say: fmt.Sprintf("the folder $TMPDIR (%s) cannot be opened: %v", tmp, err)}
	}
	name, err := inside(base, from)
	if err != nil {
		return text{}, err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return text{}, usageError{Code: codeOutOfBounds, Say: fmt.Sprintf("the folder $TMPDIR (%s) cannot be opened: %v", tmp, err)}
	}
	defer func() { _ = root.Close() }()
	value, err := readFile(root, name)
	return text{value, func() { removeUsed(base, name) }}, err
}

// inside resolves every link of a path and returns it relative to base; what lies elsewhere is refused, whether
// or not it exists.
func inside(base, path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", usageError{Code: codeNotFound, Say: fmt.Sprintf("%s: %v", path, err)}
	}
	real, err := filepath.EvalSymlinks(abs)
	missing := err != nil
	if missing {
		real = abs
		if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
			real = filepath.Join(dir, filepath.Base(abs))
		}
	}
	rel, err := filepath.Rel(base, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", usageError{Code: codeOutOfBounds, Say: fmt.Sprintf("%s is not inside $TMPDIR (%s); write the text to a file there", path, base)}
	}
	if missing {
		return "", usageError{Code: codeNotFound, Say: fmt.Sprintf("there is no file %s; write the text to it first", path)}
	}
	return rel, nil
}

func readFile(root *os.Root, name string) (string, error) {
	info, err := root.Lstat(name)
	if err != nil || info.Mode().Type() != 0 { // a pipe would keep us waiting
		return "", usageError{Code: codeNotFound, Say: fmt.Sprintf("%s is not a file; write the text to a file", name)}
	}
	file, err := root.OpenFile(name, os.O_RDONLY, fs.FileMode(0))
	if err != nil {
		return "", usageError{Code: codeNotFound, Say: fmt.Sprintf("%s cannot be read: %v", name, err)}
	}
	defer func() { _ = file.Close() }()
	return readText(file, name)
}

// readText reads all of it, verbatim.
func readText(from io.Reader, name string) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(from, maxPayload+1))
	switch {
	case err != nil:
		return "", usageError{Code: codeNotFound, Say: fmt.Sprintf("%s cannot be read: %v", name, err)}
	case len(raw) > maxPayload:
		return "", usageError{Code: codeOutOfBounds, Say: fmt.Sprintf("%s is longer than %d bytes; shorten the text", name, maxPayload)}
	case !utf8.Valid(raw):
		return "", usageError{Code: codeOutOfBounds, Say: name + " is not UTF-8 text"}
	case strings.TrimSpace(string(raw)) == "":
		return "", usageError{Code: codeMissing, Say: name + " is empty; write the text to it first"}
	}
	return string(raw), nil
}

// removeUsed takes the file away so that no later call sends it again. It may be gone already.
func removeUsed(base, name string) {
	root, err := os.OpenRoot(base)
	if err != nil {
		return
	}
	_ = root.Remove(name)
	_ = root.Close()
}
