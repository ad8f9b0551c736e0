package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A term is up to three neighbouring characters of a word, packed into one number of 21 bits for each: every text
// that holds a keyword holds the terms of that keyword. A word is what stands between white space, whatever it is
// made of, so that C++ and 阿里山 need no rules of their own.
//
// Every character is a term, every three neighbours of an alphabet, and every two that are not both ASCII: a script
// of thousands of characters says as much in two as an alphabet in three, and two Han characters are the commonest
// question there is. Two ASCII characters are found as the beginning of a three; for that the last two of a word, or
// before a character of a large script, are a term, too.
type term = int64

const (
	width = 21
	nul   = 1<<width - 1 // stands for U+0000, since 0 is nothing
	most  = 1<<width - 1
	large = 0x2e80 // the first character of the large scripts: Han, kana, hangul
)

func pack(a, b, c rune) term { return term(a)<<(2*width) | term(b)<<width | term(c) }

// span is a keyword's demand: one of the terms from first to last.
type span struct{ first, last term }

// each hands the terms of a text to emit; some more than once.
func each(text string, emit func(term)) {
	var a, b rune // the two characters before; 0 at the start of a word
	for _, c := range text {
		if unicode.IsSpace(c) {
			end(a, b, emit)
			a, b = 0, 0
			continue
		}
		if c == 0 {
			c = nul
		}
		emit(pack(c, 0, 0))
		if b != 0 && (b >= utf8.RuneSelf || c >= utf8.RuneSelf) {
			emit(pack(b, c, 0))
		}
		switch {
		case c >= large:
			end(a, b, emit)
		case a != 0 && a < large && b < large:
			emit(pack(a, b, c))
		}
		a, b = b, c
	}
	end(a, b, emit)
}

// end emits two ASCII characters behind which no third of an alphabet comes.
func end(a, b rune, emit func(term)) {
	if a != 0 && a < utf8.RuneSelf && b < utf8.RuneSelf {
		emit(pack(a, b, 0))
	}
}

// mostSpans bounds what is looked up for one keyword. A longer keyword is looked up by a part of itself; whoever
// reads the text sees the rest.
const mostSpans = 24

// demands returns what every text with the keyword holds. It is empty for a keyword of white space.
func demands(keyword string) []span {
	var all []span
	seen := map[span]bool{}
	for _, word := range strings.Fields(keyword) {
		for _, s := range demandsOf([]rune(word)) {
			if !seen[s] && len(all) < mostSpans {
				seen[s] = true
				all = append(all, s)
			}
		}
	}
	return all
}

func demandsOf(word []rune) (all []span) {
	for i, c := range word {
		if c == 0 {
			word[i] = nul
		}
	}
	exact := func(t term) span { return span{t, t} }
	switch {
	case len(word) == 1:
		return []span{exact(pack(word[0], 0, 0))}
	case len(word) == 2 && word[0] < utf8.RuneSelf && word[1] < utf8.RuneSelf:
		return []span{{pack(word[0], word[1], 0), pack(word[0], word[1], most)}}
	case len(word) == 2:
		return []span{exact(pack(word[0], word[1], 0))}
	}
	for i := 1; i < len(word); i++ {
		b, c := word[i-1], word[i]
		switch {
		case b >= large || c >= large:
			all = append(all, exact(pack(b, c, 0)))
		case i > 1 && word[i-2] < large:
			all = append(all, exact(pack(word[i-2], b, c)))
		}
	}
	if len(all) == 0 { // three characters of which the neighbours of the last say too little
		all = append(all, exact(pack(word[0], 0, 0)))
	}
	return all
}
