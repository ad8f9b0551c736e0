package outbox

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// rank says how natural a cut is; a bigger number is better.
type rank int

const (
	atCharacter rank = iota
	atWord
	atSentence
	atLine
	atParagraph
)

// cut is a place where a text may be parted: behind at bytes, with a code block open there or not.
type cut struct {
	at   int
	rank rank
	open fence
}

// body returns what stands before the cut. In a code block white space has a meaning and stays.
func (c cut) body(text string) string {
	if c.open.opened() {
		return text[:c.at]
	}
	return strings.TrimRightFunc(text[:c.at], unicode.IsSpace)
}

// next returns what stands behind the cut: without the newline, or without blank lines where no code block is
// open. The indentation of the next line stays, since lists live by it.
func (c cut) next(text string) string {
	rest := text[c.at:]
	switch {
	case c.open.opened():
		return strings.TrimPrefix(rest, "\n")
	case c.rank < atLine:
		return strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	for {
		line, after, more := strings.Cut(rest, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return rest
		}
		rest = after
	}
}

// wishes are tried in order: a cut of at least this rank that keeps at least 1/share of what would fit.
var wishes = []struct {
	rank  rank
	share int
}{{atParagraph, 2}, {atLine, 2}, {atSentence, 2}, {atWord, 2}, {atWord, 8}}

// choose picks the most natural cut of rest that fits, and reports whether any does.
func (f Frame) choose(rest string, open fence, mark string, balance bool) (cut, bool) {
	list := cuts(f.window(rest), open, balance)
	far, ok := f.furthest(rest, list, open, mark)
	if !ok || f.crowded(open) || f.crowded(far.open) {
		return cut{}, false
	}
	end := sort.Search(len(list), func(i int) bool { return list[i].at > far.at })
	for _, wish := range wishes {
		for i := end - 1; i >= 0 && list[i].at*wish.share >= far.at; i-- {
			if list[i].rank >= wish.rank && !f.crowded(list[i].open) && f.takes(rest, list[i], open, mark) {
				return list[i], true
			}
		}
	}
	return far, true
}

// crowded reports whether the synthetic fences alone would take more than half of a message.
func (f Frame) crowded(open fence) bool {
	return open.opened() && length(open.reopens()+open.closes(), f.Unit) > f.Max/2
}

// furthest returns the last cut of list that fits. It assumes that more text is longer; where a Render does not
// keep to that, the cut still fits but may be an earlier one.
func (f Frame) furthest(rest string, list []cut, open fence, mark string) (cut, bool) {
	n := sort.Search(len(list), func(i int) bool { return !f.takes(rest, list[i], open, mark) })
	if n == 0 {
		return cut{}, false
	}
	return list[n-1], true
}

// takes reports whether the message that ends at c fits.
func (f Frame) takes(rest string, c cut, open fence, mark string) bool {
	return f.fits(open.reopens() + c.body(rest) + mark + c.open.closes())
}

// cuts lists every place where text may be parted, first to last. With balance, the lines of fences stay whole
// and no code block is left empty on either side.
func cuts(text string, open fence, balance bool) []cut {
	var list []cut
	for start := 0; start < len(text); {
		line, after, more := strings.Cut(text[start:], "\n")
		kind, then := plain, open
		if balance {
			kind, then = open.read(line)
		}
		if kind == plain {
			list = inLine(list, line, start, open, balance)
		}
		start += len(line)
		if !more {
			break
		}
		if r, ok := endOfLine(kind, then, after, balance); ok && start > 0 {
			list = append(list, cut{at: start, rank: r, open: then})
		}
		start++
		open = then
	}
	return list
}

// endOfLine ranks the cut behind a line of the given kind; after is the text that follows, then what is open.
func endOfLine(kind lineKind, then fence, after string, balance bool) (rank, bool) {
	next, _, _ := strings.Cut(after, "\n")
	nextKind := plain
	if balance {
		nextKind, _ = then.read(next)
	}
	switch {
	case kind == opens || nextKind == closes:
		return 0, false // one side would be an empty code block
	case kind == closes || nextKind == opens:
		return atParagraph, true
	case strings.TrimSpace(next) == "" && !then.opened():
		return atParagraph, true
	}
	return atLine, true
}

// inLine adds the places within one line that begins at start.
func inLine(list []cut, line string, start int, open fence, balance bool) []cut {
	state, rest, p := -1, line, 0
	for rest != "" {
		var cluster string
		var bounds int
		cluster, rest, bounds, state = uniseg.StepString(rest, state)
		p += len(cluster)
		if rest == "" || balance && !open.mayCut(line, p) {
			continue
		}
		list = append(list, cut{at: start + p, rank: rankIn(line, p, bounds, open), open: open})
	}
	return list
}

// rankIn ranks the cut of a line at p. Scripts without spaces are parted where a line of them may be broken;
// others at spaces alone, so that an address stays whole.
func rankIn(line string, p, bounds int, open fence) rank {
	before, _ := utf8.DecodeLastRuneInString(line[:p])
	behind, _ := utf8.DecodeRuneInString(line[p:])
	breakable := bounds&uniseg.MaskLine == uniseg.LineCanBreak
	switch {
	case unicode.IsSpace(behind):
		return atCharacter // the cut behind the space is the better one
	case bounds&uniseg.MaskSentence != 0 && !open.opened():
		return atSentence
	case unicode.IsSpace(before), breakable && (wide(before) || wide(behind)):
		return atWord
	}
	return atCharacter
}

// wide reports whether r belongs to the scripts that are written without spaces: from the CJK radicals on.
func wide(r rune) bool { return r >= 0x2E80 && r != utf8.RuneError }
