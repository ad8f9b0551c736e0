package note

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// record is what a note says of where it comes from, in front of its text. Only this package writes one.
type record struct {
	Session  string
	At       time.Time
	Admitted time.Time // when the owner let it in; zero where nobody looked at it
	Earlier  []string  // sessions that had a part in what stood there before
	Sources  []string
	Base     string // of a draft alone: the sum of what it takes the place of
}

const fence = "---"

// head writes the record as YAML front matter.
func (r record) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\norigin: research\nstanding: foreign\nsession: %s\ndate: %s\n", fence, r.Session, r.At.UTC().Format(time.RFC3339))
	if !r.Admitted.IsZero() {
		fmt.Fprintf(&b, "admitted: %s\n", r.Admitted.UTC().Format(time.RFC3339))
	}
	if r.Base != "" {
		fmt.Fprintf(&b, "base: %s\n", r.Base)
	}
	list(&b, "earlier", r.Earlier)
	list(&b, "sources", r.Sources)
	b.WriteString(fence + "\n\n")
	return b.String()
}

func list(b *strings.Builder, key string, all []string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for _, one := range all {
		quoted, _ := json.Marshal(one) // a string is always JSON, and that is always YAML
		fmt.Fprintf(b, "  - %s\n", quoted)
	}
}

// part takes text apart into its front matter, without the fences, and the rest. Only what a record would be is front
// matter; whatever else begins with a fence has an empty one, and loses the fence.
func part(text string) (front, rest string, had bool) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	after, ok := cutFence(strings.TrimLeft(text, "\n"))
	if !ok {
		return "", text, false
	}
	length := 0
	for line := range strings.Lines(after) {
		if mark := strings.TrimRight(line, " \t\n"); mark == fence || mark == "..." {
			return after[:length], after[length+len(line):], true
		}
		length += len(line)
	}
	return "", after, true
}

func cutFence(text string) (string, bool) {
	line, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(line, " \t") != fence {
		return text, false
	}
	return rest, true
}

// bare is the text of a note without any front matter, so that nothing in it passes for a record.
func bare(text string) string {
	for {
		_, rest, had := part(text)
		text = rest
		if !had {
			return strings.TrimSpace(text)
		}
	}
}

// read reads a file that this package wrote, or anything; ok is false where there is no record.
func read(text string) (r record, rest string, ok bool) {
	front, rest, had := part(text)
	rest = strings.TrimSpace(rest)
	if !had {
		return r, rest, false
	}
	var into *[]string
	research := false
	for line := range strings.Lines(front) {
		line = strings.TrimRight(line, "\n")
		if item, is := strings.CutPrefix(line, "  - "); is && into != nil {
			var one string
			if json.Unmarshal([]byte(item), &one) == nil && len(*into) < MostSources {
				*into = append(*into, one)
			}
			continue
		}
		into = nil
		switch key, value, _ := strings.Cut(line, ":"); key {
		case "origin":
			research = strings.TrimSpace(value) == "research"
		case "session":
			r.Session = strings.TrimSpace(value)
		case "date":
			r.At, _ = time.Parse(time.RFC3339, strings.TrimSpace(value)) // of a hand's doing: zero
		case "admitted":
			r.Admitted, _ = time.Parse(time.RFC3339, strings.TrimSpace(value))
		case "base":
			r.Base = strings.TrimSpace(value)
		case "earlier":
			into = &r.Earlier
		case "sources":
			into = &r.Sources
		}
	}
	return r, rest, research && r.Session != ""
}

// after is the record of a note that takes the place of one which had the record old.
func (r record) after(old record) record {
	r.Earlier = union(append(slices.Clone(old.Earlier), old.Session), r.Earlier)
	r.Earlier = slices.DeleteFunc(r.Earlier, func(s string) bool { return s == r.Session })
	r.Sources = union(old.Sources, r.Sources)
	r.Sources = r.Sources[max(0, len(r.Sources)-MostSources):]
	return r
}

// mark is what stands in front of lines that were added to a list: the same, as a comment.
func (r record) mark() string {
	text := r.marked() + " " + r.At.UTC().Format(time.DateOnly)
	if r.Admitted.IsZero() {
		text += " unreviewed"
	}
	for _, source := range r.Sources[:min(len(r.Sources), 5)] {
		text += " " + source
	}
	return text + " -->"
}

// marked is how the mark of this session begins.
func (r record) marked() string { return "<!-- research " + r.Session }

// address returns an address of the web as it may stand in a record; "" for anything else.
func address(url string) string {
	odd := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune("<>\"`", r)
	}
	web := strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
	if !web || len(url) > longestURL || strings.ContainsFunc(url, odd) || strings.Contains(url, "--") && strings.Contains(url, ">") {
		return ""
	}
	return url
}

// union returns both without doubles.
func union(a, b []string) []string {
	var all []string
	for _, one := range slices.Concat(a, b) {
		if one != "" && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
