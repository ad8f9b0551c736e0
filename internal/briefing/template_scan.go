package briefing

import (
	"regexp"
	"strings"
)

// The marks of a tag, and the white space that a dash beside them trims.
const (
	open  = "{{"
	shut  = "}}"
	blank = " \t\r\n"
)

// tagKind says what a tag asks for.
type tagKind int

const (
	tagText tagKind = iota // no tag: the words between two
	tagName
	tagInclude
	tagIf
	tagElse
	tagEnd
	tagBroken // begins with a word of ours, but goes on wrongly
)

// token is a tag, or the words between two tags.
type token struct {
	kind tagKind
	arg  string // the words; the name; the file
	raw  string // the tag as it was written
	line int
}

var (
	nameForm    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	includeForm = regexp.MustCompile(`^include\s+"([^"]*)"$`)
	ifForm      = regexp.MustCompile(`^if\s+([A-Za-z_][A-Za-z0-9_]*)$`)
	keywordForm = regexp.MustCompile(`^(if|else|end|include)\b`)
)

// scanner takes a prompt apart. What looks like a tag but means nothing to us is words.
type scanner struct {
	tokens []token
	words  strings.Builder // since the last tag
	line   int
	trim   bool // the last tag asked to trim what follows it
}

// scan returns the tags of a prompt, each with the words before it, and the words behind the last one.
func scan(text string) []token {
	s := scanner{line: 1}
	for {
		before, rest, found := strings.Cut(text, open)
		s.say(before)
		if !found {
			s.flush()
			return s.tokens
		}
		inner, after, closed := tagBody(rest)
		if !closed || !s.tag(inner, open+rest[:len(rest)-len(after)]) {
			s.say(open)
			after = rest
		}
		text = after
	}
}

// say adds words.
func (s *scanner) say(words string) {
	s.line += strings.Count(words, "\n")
	if s.trim {
		words = strings.TrimLeft(words, blank)
		s.trim = words == ""
	}
	s.words.WriteString(words)
}

// tag adds a tag, and reports whether it is one. A comment leaves nothing behind but what it trims.
func (s *scanner) tag(inner, raw string) bool {
	left, body, right := trimMarks(inner)
	kind, arg := readTag(body)
	comment := strings.HasPrefix(body, "/*")
	if kind == tagText && !comment {
		return false
	}
	if left {
		kept := strings.TrimRight(s.words.String(), blank)
		s.words.Reset()
		s.words.WriteString(kept)
	}
	if !comment {
		s.flush()
		s.tokens = append(s.tokens, token{kind, arg, raw, s.line})
	}
	s.line += strings.Count(raw, "\n")
	s.trim = right
	return true
}

// flush ends a run of words.
func (s *scanner) flush() {
	s.tokens = append(s.tokens, token{arg: s.words.String(), line: s.line})
	s.words.Reset()
}

// tagBody returns what stands between the marks of a tag whose opening was just read, and what follows it. A
// comment may hold anything but its own end.
func tagBody(rest string) (inner, after string, closed bool) {
	start := strings.TrimLeft(strings.TrimPrefix(rest, "-"), blank)
	if !strings.HasPrefix(start, "/*") {
		inner, after, closed = strings.Cut(rest, shut)
		return inner, after, closed
	}
	_, tail, closed := strings.Cut(start[2:], "*/")
	mark := strings.TrimPrefix(strings.TrimLeft(tail, blank), "-")
	after, ok := strings.CutPrefix(mark, shut)
	if !closed || !ok {
		return "", "", false
	}
	return rest[:len(rest)-len(after)-len(shut)], after, true
}

// trimMarks takes the marks off that ask to trim white space on either side.
func trimMarks(inner string) (left bool, body string, right bool) {
	body, left = strings.CutPrefix(inner, "-")
	body, right = strings.CutSuffix(body, "-")
	return left, strings.TrimSpace(body), right
}

// readTag says what the inside of a tag means; tagText where it means nothing.
func readTag(body string) (kind tagKind, arg string) {
	if m := includeForm.FindStringSubmatch(body); m != nil {
		return tagInclude, m[1]
	}
	if m := ifForm.FindStringSubmatch(body); m != nil {
		return tagIf, m[1]
	}
	switch {
	case body == "else":
		return tagElse, ""
	case body == "end":
		return tagEnd, ""
	case nameForm.MatchString(body) && !keywordForm.MatchString(body):
		return tagName, body
	case keywordForm.MatchString(body):
		return tagBroken, body
	}
	return tagText, ""
}
