// Package terminal is the other side of a chat in a terminal: keys become a line that is edited, with a history, and
// Markdown becomes rows of text. It knows nothing of bots.
//
// It promises: the terminal is given back as it was found, also when the program panics or is told to end; nothing
// that somebody said can steer it; what was printed stays in the scrollback, and only the last rows, with the line
// that is written, are drawn again.
package terminal

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// Clean drops what could steer a terminal: control characters other than line breaks, and marks that turn the
// direction of writing. Tabs become spaces.
func Clean(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\t", "    "), "\uFFFD")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsControl(r), r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069', r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, text)
}

// Flat is Clean for a text that stands in one row.
func Flat(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

// Width is how many columns a text takes that holds no escapes.
func Width(text string) int { return uniseg.StringWidth(text) }

// Fit cuts a text of one row so that it takes at most so many columns.
func Fit(text string, columns int) string {
	if Width(text) <= columns {
		return text
	}
	var cut strings.Builder
	used := 0
	for state := -1; text != ""; {
		var cluster string
		var width int
		cluster, text, width, state = uniseg.FirstGraphemeClusterInString(text, state)
		if used += width; used > columns-1 {
			break
		}
		cut.WriteString(cluster)
	}
	return cut.String() + "…"
}
