package outbox

import "strings"

// fence is a code block that is open at some point of a text; the zero fence is none.
type fence struct {
	line string // the whole opening line: indentation, marks, info string
	mark string // indentation and marks alone, which also close it
}

// opened reports whether the point lies in a code block.
func (f fence) opened() bool { return f.mark != "" }

// reopens returns what must stand before text that goes on with this block in a new message.
func (f fence) reopens() string {
	if !f.opened() {
		return ""
	}
	return f.line + "\n"
}

// closes returns what must stand behind text that leaves this block in the middle.
func (f fence) closes() string {
	if !f.opened() {
		return ""
	}
	return "\n" + f.mark
}

// lineKind says what a line does to the code block that it stands in, or opens.
type lineKind int

const (
	plain lineKind = iota
	opens
	closes
)

// read tells what a line, without its newline, does when f is what is open before it, and what is open after.
// The info string goes to the end of the line, whatever is in it; but backticks in it mean that the line is
// no fence (it is a code span that begins and ends there).
func (f fence) read(line string) (lineKind, fence) {
	body := strings.TrimLeft(line, " \t")
	run := markRun(body)
	if run < 3 {
		return plain, f
	}
	indent, info := line[:len(line)-len(body)], body[run:]
	if f.opened() {
		marks := strings.TrimLeft(f.mark, " \t")
		if body[0] == marks[0] && run >= len(marks) && strings.TrimSpace(info) == "" {
			return closes, fence{}
		}
		return plain, f
	}
	if body[0] == '`' && strings.Contains(info, "`") {
		return plain, f
	}
	return opens, fence{line: strings.TrimRight(line, " \t\r"), mark: indent + body[:run]}
}

// markRun counts the fence marks that s begins with.
func markRun(s string) int {
	if s == "" || (s[0] != '`' && s[0] != '~') {
		return 0
	}
	return len(s) - len(strings.TrimLeft(s, s[:1]))
}

// mayCut reports whether a line that is no fence may be parted at p: neither side may look like a fence then.
func (f fence) mayCut(line string, p int) bool {
	if markRun(strings.TrimLeft(line[p:], " \t")) >= 3 {
		return false
	}
	if markRun(strings.TrimLeft(line, " \t")) < 3 {
		return true
	}
	kind, _ := f.read(line[:p])
	return kind == plain
}
