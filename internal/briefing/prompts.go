package briefing

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed prompts/*.md
var builtin embed.FS

// siblingForm is what a prompt file may be called: a plain name, so that nothing outside the directory is read.
var siblingForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*\.md$`)

// longestFile bounds one prompt file, in bytes.
const longestFile = 256 << 10

// ReplyPrompt is the name of the prompt of a reply; RetryPrompt of the second try, and RetryNotePrompt of the second try
// of a session that should write a note.
const (
	ReplyPrompt     = "system_reply.md"
	RetryPrompt     = "retry.md"
	RetryNotePrompt = "retry_note.md"
)

// Prompts finds prompt files: in a directory first, which may be missing, else among the built-in ones. Files
// are read at each use, so that an edit counts from the next message on; a symbolic link counts as the file
// that it leads to. Safe for concurrent use.
type Prompts struct {
	dir  string // "" for the built-in ones alone
	must string // this file must be in dir: an operator named it
	log  *slog.Logger
	kept *pages // may be nil
}

// Page is a prompt that was read with everything it takes in. Rendering it is pure.
type Page struct{ file file }

// Render puts the variables in.
func (p Page) Render(v Vars) string {
	var b strings.Builder
	p.file.render(&b, v)
	return b.String()
}

// Load reads the prompt of that name. A prompt that is missing or cannot be understood is a PromptError.
func (p Prompts) Load(name string) (Page, error) {
	if page, ok := p.kept.find(name, p.read); ok {
		return page, nil
	}
	var made []reading
	read := func(file string) (text, path string, found bool, err error) {
		text, path, found, err = p.read(file)
		made = append(made, reading{file, text, path, found})
		return text, path, found, err
	}
	text, path, found, err := read(name)
	if err != nil {
		return Page{}, err
	}
	if !found {
		return Page{}, PromptError{Path: path, Say: "there is no such file"}
	}
	parser := &parser{read: read, entry: name, log: p.log}
	parsed, err := parser.parse(text, path, 1)
	if err == nil && !parser.doubtful { // what is doubtful is said at each use
		p.kept.keep(name, Page{parsed}, made)
	}
	return Page{parsed}, err
}

// read returns a prompt file's text and its path; found is false when neither place has it.
func (p Prompts) read(name string) (text, path string, found bool, err error) {
	path = name
	if !siblingForm.MatchString(name) {
		return "", path, false, nil
	}
	if p.dir != "" {
		path = filepath.Join(p.dir, name)
		text, err := readBounded(path)
		switch {
		case err == nil:
			return text, path, true, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", path, false, err
		case name == p.must:
			return "", path, false, nil
		}
	}
	data, err := builtin.ReadFile("prompts/" + name)
	if err != nil {
		return "", path, false, nil
	}
	return string(data), "builtin:" + name, true, nil
}

// readBounded reads a regular file that is no longer than a prompt may be.
func readBounded(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return "", PromptError{Path: path, Say: err.Error()}
	}
	if !info.Mode().IsRegular() {
		return "", PromptError{Path: path, Say: "is not a file"}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", PromptError{Path: path, Say: err.Error()}
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, longestFile+1))
	switch {
	case err != nil:
		return "", PromptError{Path: path, Say: err.Error()}
	case len(data) > longestFile:
		return "", PromptError{Path: path, Say: fmt.Sprintf("is longer than %d bytes", longestFile)}
	}
	return strings.TrimPrefix(string(data), "\uFEFF"), nil
}
