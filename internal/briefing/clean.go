package briefing

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestName bounds a name, in code points: a name is not a place to tell a story.
const longestName = 100

// indent stands before every further line of a text, so that no line of it begins like a line or a heading of
// ours. The line that lists attachments has two spaces; this has more, so that it cannot be forged either.
const indent = "    "

// oneLine makes what somebody typed a single line: line breaks and runs of white space become one space,
// control characters and marks that reorder text go.
func oneLine(s string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || lineBreak(r) }) {
		word = strings.Map(visible, word)
		if word == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	return b.String()
}

// name makes a display name safe to stand before a colon: one line, bounded, and with no colon-and-space of
// its own, since that is where the words begin.
func name(s string) string {
	s = strings.ReplaceAll(bound(oneLine(s), longestName), ": ", ":")
	return strings.TrimRight(s, ": ")
}

// block keeps the lines of a text, but sets every one after the first in by indent.
func block(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		if lineBreak(r) {
			return '\n'
		}
		if r == '\t' {
			return r
		}
		return visible(r)
	}, s)
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+indent)
}

// lineBreak reports whether something that shows text might begin a new line at r.
func lineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// visible drops control characters and the marks that embed, override or isolate a direction of writing.
func visible(r rune) rune {
	if unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 {
		return -1
	}
	return r
}

// bound cuts s to so many code points.
func bound(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n == most {
			return s[:i]
		}
		n++
	}
	return s
}
