package terminal

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// maxLine is the longest text that is edited, in bytes; what is typed beyond it is not taken.
const maxLine = 128 << 10

// Line is a text that is being written, of one or several lines, with a cursor in it. The zero Line is empty.
type Line struct {
	before, after string // what stands left and right of the cursor
	killed        string // what was cut off last

	past  *History
	at    int    // which entry of the past is shown; its length when none is
	draft string // what was written before the past was looked at
}

// Line returns an empty line from which one can look back. A nil History has nothing to look at.
func (h *History) Line() *Line { return &Line{past: h, at: h.len()} }

// Text is what is written.
func (l *Line) Text() string { return l.before + l.after }

// Set replaces the text and puts the cursor behind it.
func (l *Line) Set(text string) { l.before, l.after = text, "" }

// Reset empties the line and leaves the past.
func (l *Line) Reset() {
	l.Set("")
	l.at, l.draft = l.past.len(), ""
}

// Insert puts text where the cursor is.
func (l *Line) Insert(text string) {
	if len(l.before)+len(l.after)+len(text) <= maxLine {
		l.before += text
	}
}

// Press does what a key says, and reports whether the key is one of editing.
func (l *Line) Press(key Key) bool {
	if edit, ok := edits[key.Code]; ok {
		edit(l)
		return true
	}
	if key.Code == Typed || key.Code == Pasted {
		l.Insert(key.Text)
		return true
	}
	return false
}

// edits are what the keys of editing do.
var edits = map[Code]func(*Line){
	NewLine:    func(l *Line) { l.Insert("\n") },
	Backspace:  func(l *Line) { l.before, _ = cutLast(l.before) },
	Delete:     func(l *Line) { _, l.after = cutFirst(l.after) },
	Left:       (*Line).left,
	Right:      (*Line).right,
	Start:      func(l *Line) { l.moveTo(lineStart(l.before)) },
	End:        func(l *Line) { l.moveTo(len(l.before) + lineEnd(l.after)) },
	WordLeft:   func(l *Line) { l.moveTo(wordLeft(l.before)) },
	WordRight:  func(l *Line) { l.moveTo(len(l.before) + wordRight(l.after)) },
	BackWord:   func(l *Line) { l.kill(wordLeft(l.before), len(l.before)) },
	DeleteWord: func(l *Line) { l.kill(len(l.before), len(l.before)+wordRight(l.after)) },
	KillStart:  func(l *Line) { l.kill(lineStart(l.before), len(l.before)) },
	KillEnd:    (*Line).killEnd,
	Yank:       func(l *Line) { l.Insert(l.killed) },
	Up:         (*Line).up,
	Down:       (*Line).down,
}

func (l *Line) moveTo(at int) {
	text := l.Text()
	l.before, l.after = text[:at], text[at:]
}

func (l *Line) left() {
	rest, _ := cutLast(l.before)
	l.moveTo(len(rest))
}

func (l *Line) right() {
	first, _ := cutFirst(l.after)
	l.moveTo(len(l.before) + len(first))
}

// kill cuts out a piece and keeps it for Yank.
func (l *Line) kill(from, to int) {
	if from == to {
		return
	}
	text := l.Text()
	l.killed = text[from:to]
	l.before, l.after = text[:from], text[to:]
}

// killEnd cuts up to the end of the line, or the line break when the cursor stands at it.
func (l *Line) killEnd() {
	n := lineEnd(l.after)
	if n == 0 && l.after != "" {
		n = 1
	}
	l.kill(len(l.before), len(l.before)+n)
}

// up goes to the line above, and from the first one into the past.
func (l *Line) up() {
	start := lineStart(l.before)
	if start == 0 {
		l.look(-1)
		return
	}
	column := Width(l.before[start:])
	above := l.before[:start-1]
	from := lineStart(above)
	l.moveTo(from + columnIn(above[from:], column))
}

// down goes to the line below, and from the last one back towards the present.
func (l *Line) down() {
	end := lineEnd(l.after)
	if end == len(l.after) {
		l.look(1)
		return
	}
	column := Width(l.before[lineStart(l.before):])
	below := l.after[end+1:]
	l.moveTo(len(l.before) + end + 1 + columnIn(below[:lineEnd(below)], column))
}

// look shows another entry of the past.
func (l *Line) look(step int) {
	to := l.at + step
	if to < 0 || to > l.past.len() {
		return
	}
	if l.at == l.past.len() {
		l.draft = l.Text()
	}
	l.at = to
	if to == l.past.len() {
		l.Set(l.draft)
		return
	}
	l.Set(l.past.entries[to])
}

func lineStart(text string) int { return strings.LastIndexByte(text, '\n') + 1 }

func lineEnd(text string) int {
	if at := strings.IndexByte(text, '\n'); at >= 0 {
		return at
	}
	return len(text)
}

// wordLeft is where the word begins that ends at the end of text.
func wordLeft(text string) int {
	trimmed := strings.TrimRightFunc(text, notInWord)
	return len(strings.TrimRightFunc(trimmed, inWord))
}

// wordRight is where the word ends that begins in text.
func wordRight(text string) int {
	trimmed := strings.TrimLeftFunc(text, notInWord)
	return len(text) - len(strings.TrimLeftFunc(trimmed, inWord))
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}
func notInWord(r rune) bool { return !inWord(r) }

// cutFirst splits a text behind its first character, as people count them.
func cutFirst(text string) (first, rest string) {
	first, rest, _, _ = uniseg.FirstGraphemeClusterInString(text, -1)
	return first, rest
}

// cutLast splits a text before its last character. Characters never reach over a line break.
func cutLast(text string) (rest, last string) {
	if text == "" {
		return "", ""
	}
	tail := text[lineStart(text):]
	if tail == "" {
		return text[:len(text)-1], "\n"
	}
	for state := -1; tail != ""; {
		last, tail, _, state = uniseg.FirstGraphemeClusterInString(tail, state)
	}
	return text[:len(text)-len(last)], last
}

// columnIn is the place in a line that is nearest to a column.
func columnIn(line string, column int) int {
	at, used := 0, 0
	for state := -1; at < len(line); {
		var cluster string
		var width int
		cluster, _, width, state = uniseg.FirstGraphemeClusterInString(line[at:], state)
		if used+width > column {
			break
		}
		used += width
		at += len(cluster)
	}
	return at
}
