package terminal

import (
	"regexp"
	"strings"
	"sync"
)

// forms are what blocks and links look like. They are read when the first text is set, not when the program starts.
type forms struct{ fence, heading, item, quote, rule, divider, link, address *regexp.Regexp }

var known = sync.OnceValue(func() *forms {
	return &forms{
		fence:   regexp.MustCompile("^\\s{0,3}(`{3,}|~{3,})\\s*([^`]*)$"),
		heading: regexp.MustCompile(`^\s{0,3}#{1,6}\s+(.*?)\s*#*$`),
		item:    regexp.MustCompile(`^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$`),
		quote:   regexp.MustCompile(`^\s{0,3}>\s?(.*)$`),
		rule:    regexp.MustCompile(`^\s{0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$`),
		divider: regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`),
		// [words](address), or an image; an address may hold one pair of brackets.
		link: regexp.MustCompile(`^!?\[((?:[^\[\]\\]|\\.)*)\]\(<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\)`),
		// <https://…>
		address: regexp.MustCompile(`^<((?:https?|mailto):[^\s<>]+)>`),
	}
})

// leastColumns is the narrowest that text is set in.
const leastColumns = 16

// Markdown sets a text in rows of at most so many columns, for a terminal that shows styles. Code is not wrapped.
func Markdown(text string, columns int) []string {
	m := &setter{forms: known(), columns: max(columns, leastColumns), lines: strings.Split(strings.TrimRight(Clean(text), "\n"), "\n")}
	for len(m.lines) > 0 {
		m.block()
	}
	return m.rows
}

// Plain sets a text as it was written, for a terminal that shows no styles.
func Plain(text string, columns int) []string {
	var rows []string
	for line := range strings.SplitSeq(strings.TrimRight(Clean(text), "\n"), "\n") {
		rows = append(rows, wrap([]span{{text: line}}, max(columns, leastColumns))...)
	}
	return rows
}

// setter goes through the lines of a text.
type setter struct {
	*forms
	columns int
	lines   []string
	rows    []string
}

// block takes the next block. Replies are chat: a line break is meant as one.
func (m *setter) block() {
	line := m.lines[0]
	if f := m.fence.FindStringSubmatch(line); f != nil {
		m.code(f[1])
		return
	}
	if len(m.lines) > 1 && strings.Contains(line, "|") && strings.Contains(m.lines[1], "|") && m.divider.MatchString(m.lines[1]) {
		m.table()
		return
	}
	m.lines = m.lines[1:]
	if h := m.heading.FindStringSubmatch(line); h != nil {
		m.set("", "", inline(h[1], Bold))
		return
	}
	if m.rule.MatchString(line) {
		m.rows = append(m.rows, Faint.Paint(strings.Repeat("─", min(m.columns, 40))))
		return
	}
	if q := m.quote.FindStringSubmatch(line); q != nil {
		bar := Faint.Paint("│ ")
		m.set(bar, bar, inline(q[1], Faint))
		return
	}
	if i := m.item.FindStringSubmatch(line); i != nil {
		mark := i[2]
		if strings.Contains("-*+", mark) {
			mark = "•"
		}
		lead := Fit(i[1]+mark+" ", m.columns/2)
		m.set(lead, strings.Repeat(" ", Width(lead)), inline(i[3], 0))
		return
	}
	m.set("", "", inline(line, 0))
}

// set wraps a line behind what leads its first row and the others.
func (m *setter) set(first, others string, spans []span) {
	lead := first
	for _, row := range wrap(spans, m.columns-max(Width(plain(first)), Width(plain(others)))) {
		m.rows = append(m.rows, strings.TrimRight(lead+row, " "))
		lead = others
	}
}

// code takes a block up to its closing fence.
func (m *setter) code(opened string) {
	m.lines = m.lines[1:]
	for len(m.lines) > 0 {
		line := m.lines[0]
		m.lines = m.lines[1:]
		if f := m.fence.FindStringSubmatch(line); f != nil && f[2] == "" && strings.HasPrefix(f[1], opened) {
			return
		}
		m.rows = append(m.rows, "  "+Mono.Paint(line))
	}
}

// table sets its columns as wide as they need; one that does not fit stays as it was written.
func (m *setter) table() {
	var rows [][][]span
	var widths []int
	for n := 0; n < len(m.lines) && strings.Contains(m.lines[n], "|"); n++ {
		if n == 1 {
			rows = append(rows, nil)
			continue
		}
		style := Style(0)
		if n == 0 {
			style = Bold
		}
		var row [][]span
		for column, text := range fields(m.lines[n]) {
			spans := inline(text, style)
			row = append(row, spans)
			if column == len(widths) {
				widths = append(widths, 0)
			}
			widths[column] = max(widths[column], spansWidth(spans))
		}
		rows = append(rows, row)
	}
	wide := 2 * (len(widths) - 1)
	for _, width := range widths {
		wide += width
	}
	for n, row := range rows {
		switch {
		case wide > m.columns:
			m.set("", "  ", []span{{text: m.lines[n]}})
		case row == nil:
			m.rows = append(m.rows, Faint.Paint(strings.Repeat("─", wide)))
		default:
			m.rows = append(m.rows, tableRow(row, widths))
		}
	}
	m.lines = m.lines[len(rows):]
}

func tableRow(row [][]span, widths []int) string {
	var out strings.Builder
	for column, spans := range row {
		out.WriteString(paint(cells(spans)))
		if column < len(row)-1 {
			out.WriteString(strings.Repeat(" ", widths[column]-spansWidth(spans)+2))
		}
	}
	return strings.TrimRight(out.String(), " ")
}

// fields are the cells of a line of a table.
func fields(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	parts := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(strings.ReplaceAll(part, "\x00", "|"))
	}
	return parts
}

func spansWidth(spans []span) int {
	width := 0
	for _, s := range spans {
		width += Width(s.text)
	}
	return width
}
