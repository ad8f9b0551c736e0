// Package skill finds SKILL.md folders, checks them, and lays them out for an agent. A skill teaches an agent
// how to use a tool; it never is one. Our own skills are embedded; a folder of the same name in a directory of
// the operator takes the place of ours. Nothing here runs a skill or changes what the operator wrote.
package skill

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// FileName is the file that makes a folder a skill.
const FileName = "SKILL.md"

// Bounds of one skill. Name and description are bounded as the public format of skills has it.
const (
	maxName        = 64
	maxDescription = 1024     // characters
	maxFront       = 16 << 10 // bytes of front matter
	maxText        = 256_000  // bytes of SKILL.md
	maxFile        = 1 << 20  // bytes of any other file
	maxTotal       = 8 << 20  // bytes of all files
	maxFiles       = 100
)

// Skill is one folder.
type Skill struct {
	Name         string   // kebab-case; the folder's name
	Description  string   // one paragraph: when to use it
	AllowedTools []string // tools that it may use without a question, as its author wrote them
	Files        []File   // SKILL.md first, then by path
}

// File is a file of a skill.
type File struct {
	Path string // relative to the folder, with slashes
	Data []byte
	Exec bool
}

// kebab is what a name looks like: lower case words with single hyphens between them.
var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// front is the front matter. Keys that we do not know are other agents' business.
type front struct {
	Name         string    `yaml:"name"`
	Description  string    `yaml:"description"`
	AllowedTools yaml.Node `yaml:"allowed-tools"`
}

// Parse reads a SKILL.md that lies in a folder of that name. A byte order mark and CRLF line ends are accepted;
// the skill's file has neither. Errors say what to change.
func Parse(folder string, raw []byte) (Skill, error) {
	if len(raw) > maxText {
		return Skill{}, fmt.Errorf("%s is longer than %d bytes; move parts of it into other files of the folder", FileName, maxText)
	}
	if !utf8.Valid(raw) {
		return Skill{}, fmt.Errorf("%s is not UTF-8 text; save it as UTF-8", FileName)
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	raw = bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	head, err := cut(raw)
	if err != nil {
		return Skill{}, err
	}
	var f front
	if err := decode(head, &f); err != nil {
		return Skill{}, fmt.Errorf("the front matter is not a YAML mapping: %w", err)
	}
	s := Skill{Name: f.Name, Description: strings.TrimSpace(f.Description), Files: []File{{Path: FileName, Data: raw}}}
	if s.AllowedTools, err = allowed(f.AllowedTools); err != nil {
		return Skill{}, err
	}
	return s, s.check(folder)
}

// cut returns the front matter, without its fences.
func cut(raw []byte) ([]byte, error) {
	const fence = "---"
	first, rest, ok := bytes.Cut(raw, []byte("\n"))
	if !ok || string(bytes.TrimRight(first, " \t")) != fence {
		return nil, fmt.Errorf("%s must begin with front matter: a line ---, then name and description, then a line --- again", FileName)
	}
	length := 0
	for line := range bytes.Lines(rest) {
		if string(bytes.TrimRight(line, " \t\n")) == fence {
			return rest[:length], nil
		}
		if length += len(line); length > maxFront {
			return nil, fmt.Errorf("the front matter is longer than %d bytes, or the line --- that ends it is missing", maxFront)
		}
	}
	return nil, errors.New("the line --- that ends the front matter is missing")
}

// decode keeps a panic of the YAML reader from becoming ours: the text is somebody else's.
func decode(head []byte, f *front) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return yaml.Unmarshal(head, f)
}

// allowed reads allowed-tools: a list, or one text with spaces or commas between the tools. What stands in
// parentheses belongs to one tool.
func allowed(n yaml.Node) ([]string, error) {
	switch n.Kind {
	case 0:
		return nil, nil
	case yaml.SequenceNode:
		var list []string
		if err := n.Decode(&list); err != nil {
			return nil, errors.New("allowed-tools must be a list of words")
		}
		return list, nil
	case yaml.ScalarNode:
		depth := 0
		return strings.FieldsFunc(n.Value, func(r rune) bool {
			switch r {
			case '(':
				depth++
			case ')':
				depth--
			}
			return depth <= 0 && (r == ' ' || r == ',' || r == '\n' || r == '\t')
		}), nil
	}
	return nil, errors.New("allowed-tools must be a list of words, or one line of them")
}

// check says what is wrong with a skill that lies in folder.
func (s Skill) check(folder string) error {
	switch {
	case s.Name == "":
		return fmt.Errorf("name is missing; add name: %s", folder)
	case len(s.Name) > maxName || !kebab.MatchString(s.Name):
		return fmt.Errorf("the name %q must be lower case words with hyphens between them, at most %d characters", clip(s.Name), maxName)
	case s.Name != folder:
		return fmt.Errorf("the name %q is not the folder's name %q; make them the same", s.Name, folder)
	case s.Description == "":
		return errors.New("description is missing; say in a sentence when to use the skill")
	case utf8.RuneCountInString(s.Description) > maxDescription:
		return fmt.Errorf("the description is longer than %d characters; keep it to when to use the skill", maxDescription)
	}
	return nil
}

func clip(s string) string {
	if r := []rune(s); len(r) > maxName {
		return string(r[:maxName]) + "…"
	}
	return s
}

// sorted puts SKILL.md first and the rest in the order of their paths.
func sorted(files []File) []File {
	slices.SortFunc(files, func(a, b File) int {
		if (a.Path == FileName) != (b.Path == FileName) {
			if a.Path == FileName {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	return files
}
