package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// marks are what surrounds words of a style, the longest first.
var marks = []struct {
	text  string
	style Style
}{{"***", Bold | Italic}, {"**", Bold}, {"__", Bold}, {"~~", Struck}, {"*", Italic}, {"_", Italic}}

// inline finds the styles within a line.
func inline(text string, style Style) []span {
	var spans []span
	var said strings.Builder
	flush := func() {
		if said.Len() > 0 {
			spans = append(spans, span{said.String(), style})
			said.Reset()
		}
	}
	for at := 0; at < len(text); {
		if found, n := styled(text, at, style); n > 0 {
			flush()
			spans = append(spans, found...)
			at += n
			continue
		}
		if text[at] == '\\' && at+1 < len(text) && strings.IndexByte("\\`*_{}[]()#+-.!~|<>", text[at+1]) >= 0 {
			at++
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		said.WriteString(text[at : at+size])
		at += size
	}
	flush()
	return spans
}

// styled takes what begins at a place, and says how long it is; 0 when nothing of a style does.
func styled(text string, at int, style Style) ([]span, int) {
	rest := text[at:]
	switch rest[0] {
	case '`':
		return code(rest, style)
	case '[', '!':
		if l := known().link.FindStringSubmatch(rest); l != nil {
			spans := inline(l[1], style|Underline)
			if l[2] != "" && l[2] != l[1] {
				spans = append(spans, span{" (" + l[2] + ")", style | Faint})
			}
			return spans, len(l[0])
		}
	case '<':
		if a := known().address.FindStringSubmatch(rest); a != nil {
			return []span{{a[1], style | Underline}}, len(a[0])
		}
	case '*', '_', '~':
		for _, mark := range marks {
			if n := closing(text, at, mark.text); n > 0 {
				return inline(rest[len(mark.text):n], style|mark.style), n + len(mark.text)
			}
		}
	}
	return nil, 0
}

// code takes words between as many backquotes as stand at the beginning.
func code(rest string, style Style) ([]span, int) {
	ticks := rest[:len(rest)-len(strings.TrimLeft(rest, "`"))]
	for from := len(ticks); ; {
		end := strings.Index(rest[from:], ticks)
		if end < 0 {
			return []span{{ticks, style}}, len(ticks)
		}
		end += from
		run := len(rest[end:]) - len(strings.TrimLeft(rest[end:], "`"))
		if run == len(ticks) {
			words := rest[len(ticks):end]
			if len(words) > 2 && words[0] == ' ' && words[len(words)-1] == ' ' {
				words = words[1 : len(words)-1]
			}
			return []span{{words, style | Mono}}, end + run
		}
		from = end + run
	}
}

// closing is where the mark that begins at a place ends again, counted from there; 0 when it opens nothing. Marks
// stand at words: 2 * 3 and snake_case_names are none.
func closing(text string, at int, mark string) int {
	rest := text[at:]
	if !strings.HasPrefix(rest, mark) || len(rest) <= 2*len(mark) {
		return 0
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	first, _ := utf8.DecodeRuneInString(rest[len(mark):])
	if unicode.IsSpace(first) || mark[0] == '_' && at > 0 && inWord(before) {
		return 0
	}
	for n := len(mark) + 1; n+len(mark) <= len(rest); n++ {
		if rest[n-1] == '\\' || !strings.HasPrefix(rest[n:], mark) {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(rest[:n])
		after, _ := utf8.DecodeRuneInString(rest[n+len(mark):])
		if unicode.IsSpace(last) || rest[n-1] == mark[0] || after == rune(mark[0]) || mark[0] == '_' && inWord(after) {
			continue
		}
		return n
	}
	return 0
}
