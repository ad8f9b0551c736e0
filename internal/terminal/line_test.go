package terminal

import (
	"strings"
	"testing"
)

// show is a line with its cursor as |.
func show(l *Line) string { return l.before + "|" + l.after }

func TestEditing(t *testing.T) {
	for _, c := range []struct {
		name, from string // the cursor is |
		keys       []Code
		want       string
	}{
		{"a character of several runes", "a👩‍👩‍👧|b", []Code{Backspace}, "a|b"},
		{"to the left of one", "a👩‍👩‍👧|b", []Code{Left}, "a|👩‍👩‍👧b"},
		{"and back", "a|👩‍👩‍👧b", []Code{Right, Right, Right}, "a👩‍👩‍👧b|"},
		{"over a line break", "a\n|b", []Code{Left, Left}, "|a\nb"},
		{"take a line break away", "a\n|b", []Code{Backspace}, "a|b"},
		{"nothing to take", "|", []Code{Backspace, Delete, BackWord, KillEnd, KillStart, Left, Right}, "|"},
		{"delete", "a|é́b", []Code{Delete}, "a|b"},
		{"word by word", "one two_2, three|", []Code{WordLeft, WordLeft}, "one |two_2, three"},
		{"forward by words", "|one, two three", []Code{WordRight, WordRight}, "one, two| three"},
		{"a word back", "one two, |x", []Code{BackWord}, "one |x"},
		{"a word on", "one| two three", []Code{DeleteWord}, "one| three"},
		{"to the start of the line", "one\ntwo| x", []Code{Start}, "one\n|two x"},
		{"to its end", "o|ne\ntwo", []Code{End}, "one|\ntwo"},
		{"cut to the start", "one\ntwo| x", []Code{KillStart}, "one\n| x"},
		{"cut to the end, then the break", "o|ne\ntwo", []Code{KillEnd, KillEnd}, "o|two"},
		{"cut and bring back", "one |two", []Code{KillEnd, Start, Yank}, "two|one "},
		{"up", "one two\nthree|", []Code{Up}, "one t|wo\nthree"},
		{"down to a shorter line", "one two|\nx", []Code{Down}, "one two\nx|"},
		{"up by columns, not letters", "烏龍茶\nabcd|", []Code{Up}, "烏龍|茶\nabcd"},
		{"a new line", "one|two", []Code{NewLine}, "one\n|two"},
	} {
		l := (&History{}).Line()
		l.before, l.after, _ = strings.Cut(c.from, "|")
		for _, code := range c.keys {
			if !l.Press(Key{Code: code}) {
				t.Errorf("%s: %d is no key of editing", c.name, code)
			}
		}
		if got := show(l); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if (&Line{}).Press(Key{Code: Enter}) {
		t.Error("Enter edits")
	}
}

func TestLookingBack(t *testing.T) {
	h := ReadHistory("\"one\"\nno string\n\"two\\nlines\"\n")
	l := h.Line()
	l.Insert("draft")
	for _, step := range []struct {
		code Code
		want string
	}{{Up, "two\nlines"}, {Up, "two\nlines"}, {Up, "one"}, {Up, "one"}, {Down, "two\nlines"}, {Down, "draft"}, {Down, "draft"}} {
		l.Press(Key{Code: step.code})
		if l.Text() != step.want {
			t.Fatalf("%d: %q, want %q", step.code, l.Text(), step.want)
		}
	}
	h.Add("three")
	l.Reset()
	if l.Press(Key{Code: Up}); l.Text() != "three" {
		t.Errorf("%q", l.Text())
	}
	var none *History
	if l := none.Line(); l.Press(Key{Code: Up}) && l.Text() != "" {
		t.Error("a past out of nothing")
	}
}

func TestHistoryIsBounded(t *testing.T) {
	h := &History{}
	for _, entry := range []string{"", "  ", " with a space before", strings.Repeat("x", keepEntry+1)} {
		if h.Add(entry) {
			t.Errorf("%.30q is kept", entry)
		}
	}
	if !h.Add("a\nb") || h.Add("a\nb") {
		t.Error("the same again is kept")
	}
	for i := range 2 * keepEntries {
		h.Add(strings.Repeat(string(rune('a'+i%26)), 1000))
	}
	if n := len(h.Text()); len(h.entries) > keepEntries || n > keepBytes+10*keepEntries {
		t.Errorf("%d entries, %d bytes", len(h.entries), n)
	}
	if again := ReadHistory(h.Text()); again.Text() != h.Text() {
		t.Error("what was read is not what was written")
	}
}

func TestALineIsBounded(t *testing.T) {
	l := &Line{}
	l.Insert(strings.Repeat("x", maxLine+1))
	if l.Text() != "" {
		t.Error("taken")
	}
}

func TestRows(t *testing.T) {
	for from, want := range map[string]struct {
		rows     string
		row, col int
	}{
		"|":                {"> ", 0, 2},
		"ab|c":             {"> abc", 0, 4},
		"abc\n|def":        {"> abc\n  def", 1, 2},
		"abc|\ndef":        {"> abc\n  def", 0, 5},
		"abcdefgh|":        {"> abcdefgh\n  ", 1, 2},
		"abcdefghi|":       {"> abcdefgh\n  i", 1, 3},
		"abcdefgh|i":       {"> abcdefgh\n  i", 1, 2},
		"烏龍茶葉|很香":          {"> 烏龍茶葉\n  很香", 1, 2},
		"a烏龍茶葉|":           {"> a烏龍茶\n  葉", 1, 4},
		"x👩‍👩‍👧|":          {"> x👩‍👩‍👧", 0, 5},
		"\n\n|":            {"> \n  \n  ", 2, 2},
		"|" + "0123456789": {"> 01234567\n  89", 0, 2},
	} {
		l := &Line{}
		l.before, l.after, _ = strings.Cut(from, "|")
		v := l.Rows("> ", 10)
		if got := strings.Join(v.Rows, "\n"); got != want.rows || v.Row != want.row || v.Col != want.col {
			t.Errorf("%q: %q at %d,%d, want %q at %d,%d", from, got, v.Row, v.Col, want.rows, want.row, want.col)
		}
	}
}
