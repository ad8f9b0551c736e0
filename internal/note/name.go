package note

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

const index = "notes/_index.md"

// fit is what a note may be called: kebab-case, in one of two folders.
var fit = regexp.MustCompile(`^(?:notes|journal)/[a-z0-9]+(?:-[a-z0-9]+)*\.md$`)

// named finds the names of notes in a text, each as a whole.
var named = regexp.MustCompile(`[A-Za-z0-9_-]+\.md\b`)

// longestName bounds a name, in bytes.
const longestName = 120

// checkName says what is wrong with a note's path.
func checkName(name string) error {
	if name == index || fit.MatchString(name) && len(name) <= longestName {
		return nil
	}
	return fmt.Errorf("%.100q is no name of a note: it must be as in notes/tea-in-japan.md or journal/2026-01-31.md, in lower case with single hyphens, or %s", name, index)
}

// checkText says what is wrong with a note's text.
func checkText(text string) error {
	switch {
	case len(text) > MostBytes:
		return fmt.Errorf("the note is longer than %d bytes; keep it short, or write two", MostBytes)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fmt.Errorf("the note is no text in UTF-8")
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("the note is empty")
	}
	return nil
}

// adds reports whether what sessions write into a file is added to it: into lists that many of them add to.
func adds(name string) bool { return name == index || strings.HasPrefix(name, "journal/") }

func stem(name string) string { return strings.TrimSuffix(path.Base(name), ".md") }

// added returns the lines of text that are not in base, in their order. Blank lines count only between such lines.
func added(base, text string) string {
	have := map[string]int{}
	for line := range strings.Lines(base) {
		have[strings.TrimSpace(line)]++
	}
	var fresh []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		key := strings.TrimSpace(line)
		if key == "" {
			if len(fresh) > 0 && fresh[len(fresh)-1] != "" {
				fresh = append(fresh, "")
			}
			continue
		}
		if have[key] > 0 {
			have[key]--
			continue
		}
		fresh = append(fresh, strings.ReplaceAll(line, "<!--", "<! --"))
	}
	return strings.TrimSpace(strings.Join(fresh, "\n"))
}
