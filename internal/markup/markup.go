// Package markup knows what our Markdown means. Plain turns it into text for places that show Markdown as it is: no
// marks, and nothing that a reader needs is lost. Identifiers stay as they were written, code stays whole.
package markup

import (
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// reading is CommonMark with tables and strikethrough. It knows no link definitions: a line such as «[note]: …» would
// vanish as one, and nobody who chats means that.
var reading = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(),
			util.Prioritized(extension.NewStrikethroughParser(), 500))...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
})

// Plain returns text without its marks. Text that would come out empty is returned as it is. It is pure, and safe for
// concurrent use.
func Plain(source string) string {
	bytes := []byte(source)
	p := &plain{source: bytes}
	lines := p.blocks(reading().Parse(text.NewReader(bytes)))
	out := strings.TrimRight(strings.Join(lines, "\n"), "\n")
	if strings.TrimSpace(out) == "" {
		return source
	}
	return out
}

// plain writes the tree of one text.
type plain struct{ source []byte }

// blocks writes the blocks of a container, with an empty line where the source has one.
func (p *plain) blocks(parent ast.Node) (lines []string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if p.apart(n) {
			lines = append(lines, "")
		}
		lines = append(lines, p.block(n)...)
	}
	return lines
}

// apart says whether an empty line stands before a block. Behind a fence the parser tells of those inside of it.
func (p *plain) apart(n ast.Node) bool {
	if n.PreviousSibling() == nil {
		return false
	}
	if _, fence := n.PreviousSibling().(*ast.FencedCodeBlock); !fence || n.Type() != ast.TypeBlock || n.Lines() == nil || n.Lines().Len() == 0 {
		return n.HasBlankPreviousLines()
	}
	before := strings.TrimRight(string(p.source[:n.Lines().At(0).Start]), " \t")
	return strings.HasSuffix(strings.TrimSuffix(before, "\n"), "\n")
}

func (p *plain) block(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.List:
		return p.list(n)
	case *ast.Blockquote:
		return indent(p.blocks(n), "> ", "> ")
	case *ast.FencedCodeBlock:
		return p.raw(n.Lines())
	case *ast.CodeBlock:
		return indent(p.raw(n.Lines()), "    ", "    ")
	case *ast.HTMLBlock:
		lines := p.raw(n.Lines())
		if n.HasClosure() {
			lines = append(lines, strings.TrimRight(string(n.ClosureLine.Value(p.source)), "\r\n"))
		}
		return lines
	case *ast.ThematicBreak:
		return []string{"---"}
	case *east.Table:
		return p.table(n)
	}
	return strings.Split(p.inlines(n), "\n")
}

func (p *plain) list(n *ast.List) (lines []string) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "- "
		if n.IsOrdered() {
			mark = ordinal(number, n.Marker)
			number++
		}
		if p.apart(item) {
			lines = append(lines, "")
		}
		lines = append(lines, indent(p.blocks(item), mark, strings.Repeat(" ", len(mark)))...)
	}
	return lines
}

// raw returns lines as they were written.
func (p *plain) raw(segments *text.Segments) (lines []string) {
	for i := range segments.Len() {
		segment := segments.At(i)
		lines = append(lines, strings.TrimRight(string(segment.Value(p.source)), "\r\n"))
	}
	return lines
}

// indent puts first before the first line and rest before the others; a line that is empty stays without spaces.
func indent(lines []string, first, rest string) []string {
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(first+line, " ")
		first = rest
	}
	return lines
}

func ordinal(number int, marker byte) string {
	return strconv.Itoa(number) + string(rune(marker)) + " "
}

// table writes a row a line.
func (p *plain) table(n *east.Table) (lines []string) {
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, strings.TrimSpace(p.inlines(cell)))
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return lines
}
