package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inlines writes what a block or span holds.
func (p *plain) inlines(parent ast.Node) string {
	var out strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		p.inline(&out, n)
	}
	return out.String()
}

func (p *plain) inline(out *strings.Builder, n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		out.Write(p.words(n))
		if n.SoftLineBreak() || n.HardLineBreak() {
			out.WriteByte('\n')
		}
	case *ast.String:
		out.Write(n.Value)
	case *ast.CodeSpan:
		out.WriteString(p.code(n))
	case *ast.Emphasis:
		mark := p.kept(n)
		out.WriteString(mark + p.inlines(n) + mark)
	case *east.Strikethrough:
		mark := ""
		if first := leaf(n, ast.Node.FirstChild); first != nil && !strings.HasSuffix(string(p.source[:first.Segment.Start]), "~~") {
			mark = "~" // one is of a path or a number
		}
		out.WriteString(mark + p.inlines(n) + mark)
	case *ast.Link:
		out.WriteString(linked(p.inlines(n), string(n.Destination)))
	case *ast.Image:
		out.WriteString(linked(p.inlines(n), string(n.Destination)))
	case *ast.AutoLink:
		out.Write(n.Label(p.source))
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			out.Write(segment.Value(p.source))
		}
	default:
		out.WriteString(p.inlines(n))
	}
}

// words resolves what is escaped.
func (p *plain) words(n *ast.Text) []byte {
	value := n.Segment.Value(p.source)
	if n.IsRaw() {
		return value
	}
	return util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
}

// code is a span as it was written, in one line.
func (p *plain) code(n *ast.CodeSpan) string {
	var out strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			out.Write(t.Segment.Value(p.source))
		}
	}
	return strings.NewReplacer("\r\n", " ", "\n", " ").Replace(out.String())
}

// linked shows where a link leads, unless its words say that.
func linked(words, to string) string {
	switch {
	case to == "" || words == to || "mailto:"+words == to:
		return words
	case strings.TrimSpace(words) == "":
		return to
	}
	return words + " (" + to + ")"
}

// kept returns the marks of an emphasis that is none: one inside a word, such as a*b*c, or an identifier that has
// underscores of its own, such as __init__. It returns "" for a real one.
func (p *plain) kept(n *ast.Emphasis) string {
	first, last := leaf(n, ast.Node.FirstChild), leaf(n, ast.Node.LastChild)
	if first == nil || last == nil {
		return ""
	}
	start, end := first.Segment.Start, last.Segment.Stop
	left := strings.TrimRight(string(p.source[:start]), "*_~")
	right := strings.TrimLeft(string(p.source[end:]), "*_~")
	marks := p.source[len(left):start]
	if len(marks) < n.Level {
		return ""
	}
	// The marks of this one are the outer of those that stand there.
	mark := string(marks[:1])
	if outer, ok := n.Parent().(*ast.Emphasis); ok && outer.FirstChild() == ast.Node(n) {
		mark = string(marks[len(marks)-1:])
	}
	mark = strings.Repeat(mark, n.Level)
	inside := string(p.source[start:end])
	opens := joined(lastRune(left), firstRune(inside))
	closes := joined(lastRune(inside), firstRune(right))
	if opens || closes || mark[0] == '_' && isIdentifier(inside, n.Level) {
		return mark
	}
	return ""
}

// leaf goes down to the text at one end; nil when something else stands there.
func leaf(n ast.Node, next func(ast.Node) ast.Node) *ast.Text {
	for n != nil {
		switch at := n.(type) {
		case *ast.Text:
			return at
		case *ast.Emphasis, *east.Strikethrough:
			n = next(n)
		default:
			return nil
		}
	}
	return nil
}

// isIdentifier says whether what stands between underscores is the name of something in a program.
func isIdentifier(inside string, level int) bool {
	other := func(c rune) bool {
		return c != '_' && (c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c))
	}
	if strings.ContainsFunc(inside, other) {
		return false
	}
	return level > 1 || strings.ContainsAny(inside, "_0123456789")
}

// joined says whether two characters belong to one word. Scripts that write no spaces have no such words.
func joined(a, b rune) bool { return isWord(a) && isWord(b) }

func isWord(c rune) bool {
	return (c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c)) &&
		!unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func firstRune(s string) rune { c, _ := utf8.DecodeRuneInString(s); return c }
func lastRune(s string) rune  { c, _ := utf8.DecodeLastRuneInString(s); return c }
