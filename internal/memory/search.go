package memory

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a question. More keywords than these find nothing better.
const (
	maxKeywords = 32
	maxLimit    = 100 // hits, whatever the caller asks for
)

// shown finds memories that are held by their words: resolved, enabled ones alone.
type shown struct {
	memories []Memory // the oldest first
	folded   []string // their contents, case folded; empty for a disabled one, so that nothing finds it
}

func newShown(memories []Memory) shown {
	x := shown{memories: memories, folded: make([]string, len(memories))}
	for i, m := range memories {
		if m.Enabled {
			x.folded[i] = strings.ToLower(m.Content)
		}
	}
	return x
}

// score counts the words of a question that a folded text holds.
func score(folded string, words []string) (n int) {
	for _, word := range words {
		if strings.Contains(folded, word) {
			n++
		}
	}
	return n
}

// search returns the first hits of q in the order of hits: most of them at the most.
func (x shown) search(q query, most int) []hit {
	var hits []hit
	for at := len(x.memories) - 1; at >= 0; at-- { // the newest first, so that a few are found soon
		m := &x.memories[at]
		if !q.takes(m) {
			continue
		}
		n := 0
		if len(q.words) > 0 {
			if n = score(x.folded[at], q.words); n == 0 {
				continue
			}
		}
		hits = append(hits, hit{Memory: *m, score: n, place: at, held: true})
	}
	slices.SortFunc(hits, better)
	return hits[:min(len(hits), most)]
}

// keywords splits a question at white space. Each word is taken literally, whatever it is made of; a phrase
// in a pair of double quotes is one keyword. Every question that is not blank has at least one keyword.
func keywords(query string) []string {
	query = strings.ToLower(strings.TrimSpace(strings.ToValidUTF8(query, "\ufffd")))
	var words []string
	for rest := query; rest != "" && len(words) < maxKeywords; {
		var word string
		word, rest = nextWord(rest)
		if word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if len(words) == 0 && query != "" {
		words = []string{query}
	}
	return words
}

// nextWord takes the first word or phrase off text. A double quote that opens a word and is closed by none is
// dropped: whoever looks for "beta means beta.
func nextWord(text string) (word, rest string) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		for at, r := range inner {
			after := inner[at:]
			if r == '"' && (len(after) == 1 || startsWithSpace(after[1:])) {
				return strings.TrimSpace(inner[:at]), after[1:]
			}
		}
		text = inner
	}
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

func startsWithSpace(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsSpace(r)
}

// fit returns the first hits, at most limit of them and at most maxChars characters together. A hit that does
// not fit is passed over, so that it does not starve the others; when the best is too long for an answer by
// itself, and nothing else fits, its beginning is told.
// full says that further hits would not be told.
func fit(hits []Memory, limit, maxChars int) (told []Memory, full bool) {
	left := maxChars
	for _, m := range hits {
		if len(told) == limit || left <= 0 {
			break
		}
		if length := utf8.RuneCountInString(m.Content); length <= left {
			told = append(told, m)
			left -= length
		}
	}
	if len(told) == 0 && len(hits) > 0 && limit > 0 {
		best := hits[0]
		best.Content = cut(best.Content, maxChars)
		told = append(told, best)
	}
	return told, len(told) == limit || left <= 0
}

// cut shortens text to at most chars characters, the last of which is then an ellipsis.
func cut(text string, chars int) string {
	if utf8.RuneCountInString(text) <= chars {
		return text
	}
	return string([]rune(text)[:max(0, chars-1)]) + "…"
}
