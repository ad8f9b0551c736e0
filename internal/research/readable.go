package research

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// readable is a page as plain text. Nothing in it can close the fence.
type readable struct{ title, text string }

var (
	// unread are elements whose content is not for reading.
	unread = map[atom.Atom]bool{atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Math: true,
		atom.Iframe: true, atom.Object: true, atom.Head: true, atom.Nav: true, atom.Select: true, atom.Textarea: true, atom.Button: true}
	// breaking are elements that stand on lines of their own.
	breaking = map[atom.Atom]bool{atom.P: true, atom.Div: true, atom.Br: true, atom.Li: true, atom.Ul: true, atom.Ol: true, atom.Tr: true,
		atom.Table: true, atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true, atom.Section: true,
		atom.Article: true, atom.Header: true, atom.Footer: true, atom.Blockquote: true, atom.Pre: true, atom.Hr: true, atom.Dd: true,
		atom.Dt: true, atom.Figure: true, atom.Figcaption: true, atom.Main: true, atom.Aside: true}
)

// longestPage bounds the text that is made of one page, in bytes: four for each character that is told, and room for
// what is joined.
const longestPage = 8 * pageTextRune

// readHTML makes text of a page that was found at from. It walks the tokens, not a tree, so that no nesting is too deep.
func readHTML(markup string, from *url.URL) readable {
	var b, title strings.Builder
	z := html.NewTokenizer(strings.NewReader(markup))
	z.SetMaxBuf(pageBytes + 1)
	var skip atom.Atom // the element whose content is left out
	depth, inTitle, target := 0, false, ""
	for b.Len() < longestPage {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		opens, closes := kind == html.StartTagToken, kind == html.EndTagToken
		switch {
		case token.DataAtom == atom.Title && skip == atom.Head, token.DataAtom == atom.Title && skip == 0:
			inTitle = opens && title.Len() == 0
		case inTitle && kind == html.TextToken:
			title.WriteString(token.Data)
		case token.DataAtom == atom.Body:
			skip, depth = 0, 0 // a head that nobody closed
		case skip != 0:
			if token.DataAtom == skip && opens {
				depth++
			}
			if token.DataAtom == skip && closes {
				if depth--; depth == 0 {
					skip = 0
				}
			}
		case opens && unread[token.DataAtom]:
			skip, depth = token.DataAtom, 1
		case kind == html.TextToken:
			b.WriteString(token.Data)
		case opens && token.DataAtom == atom.A:
			target = hrefOf(token, from)
		case closes && token.DataAtom == atom.A:
			if target != "" {
				b.WriteString(" (" + target + ")")
			}
			target = ""
		case breaking[token.DataAtom]:
			b.WriteByte('\n')
		}
	}
	return readable{oneLine(html.EscapeString(title.String())), lines(b.String())}
}

// hrefOf is where a link leads, as an address of the web; "" for anything else, and for places in the same page.
func hrefOf(token html.Token, from *url.URL) string {
	for _, a := range token.Attr {
		if a.Key != "href" || strings.HasPrefix(strings.TrimSpace(a.Val), "#") {
			continue
		}
		to, err := from.Parse(strings.TrimSpace(a.Val))
		if err != nil {
			return ""
		}
		to.Fragment = ""
		return link(to.String())
	}
	return ""
}

// lines makes plain text of many lines: white space joined, nothing that is not seen, at most one empty line in a row.
func lines(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(clean(line)), " ")
		if line != "" || len(all) > 0 && all[len(all)-1] != "" {
			all = append(all, line)
		}
	}
	return strings.TrimSpace(strings.Join(all, "\n"))
}
