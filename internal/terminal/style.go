package terminal

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Style is how text looks; styles may be joined with |.
type Style uint8

// The styles.
const (
	Bold Style = 1 << iota
	Italic
	Faint
	Underline
	Struck
	Mono // code: a colour of its own
	Red
	Green
)

// sgr are the numbers that switch a style on, by bit.
var sgr = [...]string{"1", "3", "2", "4", "9", "36", "31", "32"}

// Paint returns text in a style.
func (s Style) Paint(text string) string {
	if s == 0 || text == "" {
		return text
	}
	var on []string
	for bit, number := range sgr {
		if s&(1<<bit) != 0 {
			on = append(on, number)
		}
	}
	return "\x1b[" + strings.Join(on, ";") + "m" + text + "\x1b[0m"
}

// span is a piece of text of one style.
type span struct {
	text  string
	style Style
}

// cell is one character, as people count them.
type cell struct {
	text   string
	width  int
	style  Style
	breaks bool // a row may end behind it
}

// cells takes spans apart, and finds where rows may end.
func cells(spans []span) []cell {
	var all strings.Builder
	for _, s := range spans {
		all.WriteString(s.text)
	}
	var cut []cell
	rest, at, end := all.String(), 0, 0
	of := -1 // the span of the place in the text
	for state := -1; rest != ""; {
		var cluster string
		var bounds int
		cluster, rest, bounds, state = uniseg.StepString(rest, state)
		for at >= end && of+1 < len(spans) {
			of++
			end += len(spans[of].text)
		}
		at += len(cluster)
		cut = append(cut, cell{cluster, bounds >> uniseg.ShiftWidth, spans[of].style,
			bounds&uniseg.MaskLine == uniseg.LineCanBreak})
	}
	return cut
}

// wrap sets spans in rows of at most so many columns; a word that is wider is broken. Spaces at the end of a row are
// dropped.
func wrap(spans []span, columns int) []string {
	var rows []string
	var row []cell
	used, last := 0, 0 // columns of row; how many of its cells stand before the last place to break
	for _, c := range cells(spans) {
		if used+c.width > columns && c.text != " " && len(row) > 0 {
			if last == 0 {
				last = len(row)
			}
			rows = append(rows, paint(row[:last]))
			row = append([]cell(nil), row[last:]...)
			used, last = 0, 0
			for _, kept := range row {
				used += kept.width
			}
		}
		row = append(row, c)
		used += c.width
		if c.breaks {
			last = len(row)
		}
	}
	return append(rows, paint(row))
}

// paint joins cells to a row.
func paint(row []cell) string {
	for len(row) > 0 && row[len(row)-1].text == " " {
		row = row[:len(row)-1]
	}
	var out, same strings.Builder
	var style Style
	flush := func() {
		out.WriteString(style.Paint(same.String()))
		same.Reset()
	}
	for _, c := range row {
		if c.style != style {
			flush()
			style = c.style
		}
		same.WriteString(c.text)
	}
	flush()
	return out.String()
}

// plain takes the escapes of Paint out of a row.
func plain(row string) string {
	var out strings.Builder
	for {
		at := strings.Index(row, "\x1b[")
		if at < 0 {
			out.WriteString(row)
			return out.String()
		}
		out.WriteString(row[:at])
		end := strings.IndexByte(row[at:], 'm')
		if end < 0 {
			return out.String()
		}
		row = row[at+end+1:]
	}
}
