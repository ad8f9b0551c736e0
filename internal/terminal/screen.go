package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// View is what stands below everything that was printed: rows, and where the cursor is among them.
type View struct {
	Rows     []string
	Row, Col int
}

// Rows sets a line behind a prompt, with the cursor in it.
func (l *Line) Rows(prompt string, columns int) View {
	indent := strings.Repeat(" ", Width(plain(prompt)))
	v := View{Rows: []string{prompt}, Row: -1}
	used := len(indent)
	breakRow := func() {
		v.Rows = append(v.Rows, indent)
		used = len(indent)
	}
	mark := func(at int) {
		if v.Row < 0 && at >= len(l.before) {
			v.Row, v.Col = len(v.Rows)-1, used
		}
	}
	text := l.Text()
	at := 0
	for state := -1; at < len(text); {
		var cluster string
		var width int
		cluster, _, width, state = uniseg.FirstGraphemeClusterInString(text[at:], state)
		if cluster != "\n" && used+width > max(columns, len(indent)+2) {
			breakRow()
		}
		mark(at)
		at += len(cluster)
		if cluster == "\n" {
			breakRow()
			continue
		}
		v.Rows[len(v.Rows)-1] += cluster
		used += width
	}
	if used >= columns {
		breakRow()
	}
	mark(at)
	return v
}

// Screen draws on a terminal. Not safe for concurrent use.
type Screen struct {
	out  io.Writer
	size func() (columns, rows int)

	shown   View // what is drawn
	columns int  // of the terminal, then
}

// NewScreen returns a screen of which nothing is drawn yet; size is asked before each drawing.
func NewScreen(out io.Writer, size func() (columns, rows int)) *Screen {
	return &Screen{out: out, size: size}
}

// Columns is how wide rows may be: the last column stays free, since terminals differ in what they do there.
func (s *Screen) Columns() int {
	columns, _ := s.size()
	return max(columns-1, leastColumns)
}

// Draw prints rows for good, above the view, and draws the view anew.
func (s *Screen) Draw(printed []string, v View) error {
	columns, height := s.size()
	v = cropped(v, max(height-1, 1))
	if len(printed) == 0 && columns == s.columns && v.Row == s.shown.Row && v.Col == s.shown.Col && slices.Equal(v.Rows, s.shown.Rows) {
		return nil
	}
	var b strings.Builder
	b.WriteString("\x1b[?25l\r")
	if up := s.above(columns); up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\x1b[J")
	for _, row := range printed {
		b.WriteString(row + "\r\n")
	}
	b.WriteString(strings.Join(v.Rows, "\r\n"))
	if up := len(v.Rows) - 1 - v.Row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	if v.Col > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", v.Col)
	}
	b.WriteString("\x1b[?25h")
	s.shown, s.columns = v, columns
	_, err := io.WriteString(s.out, b.String())
	return err
}

// Wipe takes away everything, what was printed too.
func (s *Screen) Wipe() error {
	s.Forget()
	_, err := io.WriteString(s.out, "\x1b[H\x1b[2J")
	return err
}

// Forget leaves what is drawn where it is; the next drawing begins on the row of the cursor.
func (s *Screen) Forget() { s.shown = View{} }

// above is how many rows of the terminal the view takes above the cursor. A terminal that was made narrower has
// broken rows that no longer fit.
func (s *Screen) above(columns int) int {
	columns = max(columns, 1)
	rows := s.shown.Col / columns
	for n := 0; n < s.shown.Row; n++ {
		rows += max((Width(plain(s.shown.Rows[n]))+columns-1)/columns, 1)
	}
	return rows
}

// cropped leaves out rows of a view that is too high, as far from the cursor as can be.
func cropped(v View, height int) View {
	if len(v.Rows) <= height {
		return v
	}
	from := min(max(v.Row-height/2, 0), len(v.Rows)-height)
	return View{v.Rows[from : from+height], v.Row - from, v.Col}
}
