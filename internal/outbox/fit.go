package outbox

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/chat"
)

// Frame says how much text one message of a platform holds, and what becomes of more. Only Fit reads it.
type Frame struct {
	Max    int                 // longest text of one message, in Unit, after Render; 0 or less: no limit
	Unit   chat.Unit           // "" means chat.Runes
	Render func(string) string // our Markdown as it is sent, to be measured; nil: as it is. Pure
	Parts  int                 // the most messages; what is left over is cut off with «…»; 0 or less: no limit

	// Truncate makes one message, cut to three short of Max and ended with three dots, instead of several.
	Truncate bool
}

// The marks of text that was cut off.
const (
	ellipsis = "…"
	dots     = "..."
)

// beyond is how many code points behind the limit are looked at, to know what kind of line follows a cut.
const beyond = 64

// Fit cuts text into the messages that it takes, in order; a text that fits is returned as it is. Cuts are made
// at the end of a paragraph, a line, a sentence or a word, else between characters as people see them. A code
// block that is cut is closed and opened again with its info string; where the limit is too small for that, its
// pieces go out bare. Nothing is lost but white space at a cut, and what Parts or Truncate cut off.
//
// Every part holds to Max, unless Max is less than one code point or Render alone adds more than Max: then a
// part is as short as it can be. A text of white space alone that is too long gives no part. Fit is pure; it
// ends for every input; valid UTF-8 stays valid.
func Fit(text string, f Frame) []string {
	if f.Max <= 0 || f.fits(text) {
		return []string{text}
	}
	if f.Truncate {
		return []string{f.truncate(text)}
	}
	pieces, balanced := f.pieces(text, true)
	if !balanced {
		pieces, _ = f.pieces(text, false)
	}
	parts := make([]string, len(pieces))
	for i, p := range pieces {
		parts[i] = p.String()
	}
	return parts
}

// piece is one part: body is the text's own, head opens a code block again, tail closes it and marks a cut.
type piece struct{ head, body, tail string }

func (p piece) String() string { return p.head + p.body + p.tail }

// pieces cuts text. With balance, code blocks are kept whole or mended, and false is returned where the limit
// leaves no room for that; without, fences are text like any other and it always succeeds.
func (f Frame) pieces(text string, balance bool) ([]piece, bool) {
	var out []piece
	var open fence
	for rest := strings.TrimRightFunc(text, unicode.IsSpace); strings.TrimSpace(rest) != ""; {
		last := f.Parts > 0 && len(out)+1 >= f.Parts
		head := open.reopens()
		if f.fits(head + rest) {
			return append(out, piece{head: head, body: rest}), true
		}
		mark := ""
		if last {
			mark = ellipsis
		}
		at, ok := f.choose(rest, open, mark, balance)
		if !ok {
			if balance {
				return nil, false
			}
			at = cut{at: f.force(rest, mark)}
		}
		p := piece{head: head, body: at.body(rest), tail: mark + at.open.closes()}
		if strings.TrimSpace(p.body) != "" {
			out = append(out, p)
		}
		if last {
			return out, true
		}
		open, rest = at.open, at.next(rest)
	}
	return out, true
}

// force returns how many bytes to take where no cut fits: within one long cluster of code points, as many of
// them as fit; where rendering alone is too much, as many as would fit without it; and always at least one.
func (f Frame) force(rest, mark string) int {
	for _, frame := range []Frame{f, {Max: f.Max, Unit: f.Unit}} {
		n := 0
		for i, r := range rest {
			end := i + runeLen(rest[i:], r)
			if !frame.fits(rest[:end] + mark) {
				break
			}
			n = end
		}
		if n > 0 {
			return n
		}
	}
	_, n := utf8.DecodeRuneInString(rest)
	return n
}

// truncate is the older behaviour: one message that ends with three dots.
func (f Frame) truncate(text string) string {
	mark := dots
	if f.Max <= len(dots) {
		mark = ""
	}
	list := cuts(f.window(text), fence{}, false)
	n := sort.Search(len(list), func(i int) bool { return !f.fits(text[:list[i].at] + mark) })
	if n == 0 {
		return text[:f.force(text, mark)] + mark
	}
	return text[:list[n-1].at] + mark
}

// fits reports whether s, rendered, is within the limit.
func (f Frame) fits(s string) bool {
	if f.Render != nil {
		s = f.Render(s)
	}
	if len(s) <= f.Max { // no unit counts more than the bytes
		return true
	}
	return len(s) <= f.Max*utf8.UTFMax && length(s, f.Unit) <= f.Max
}

// window returns as much of the beginning of text as can matter for the next cut: a little more than fits.
func (f Frame) window(text string) string {
	n := (f.Max + beyond) * utf8.UTFMax
	for f.Render != nil && n < len(text) && f.fits(text[:n]) {
		n *= 2
	}
	if n >= len(text) {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// length counts s in a platform's unit.
func length(s string, unit chat.Unit) int {
	switch unit {
	case chat.Bytes:
		return len(s)
	case chat.UTF16:
		n := 0
		for _, r := range s {
			n++
			if r > 0xFFFF {
				n++
			}
		}
		return n
	case chat.Runes:
	}
	return utf8.RuneCountInString(s)
}

// runeLen is the length in bytes of the code point r at the start of s; an invalid byte is one byte long.
func runeLen(s string, r rune) int {
	if r == utf8.RuneError {
		_, n := utf8.DecodeRuneInString(s)
		return n
	}
	return utf8.RuneLen(r)
}
