package research

import (
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// directive tells the reader what the fence means.
//
//go:embed text/directive.md
var directive string

// pageDirective tells the same of a page.
//
//go:embed text/page.md
var pageDirective string

// The fence around an item. Its brackets occur in no text of a feed: Block takes them out.
const (
	openMark  = "⟪UNTRUSTED_EXTERNAL_ARTICLE index=%d⟫"
	closeMark = "⟪END_UNTRUSTED_EXTERNAL_ARTICLE⟫"
)

var unbracket = strings.NewReplacer("⟪", "<", "⟫", ">")

// Block tells an agent of the items, each in a fence that nothing in it can close (air-friends spec §7.3).
func Block(items []Item) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(directive))
	for i, item := range items {
		fmt.Fprintf(&b, "\n\n"+openMark+"\n", i+1)
		for _, line := range [][2]string{{"Title", item.Title}, {"Source", item.Source}, {"URL", item.URL}, {"Description", item.Description}} {
			if line[1] != "" {
				fmt.Fprintf(&b, "%s: %s\n", line[0], unbracket.Replace(line[1]))
			}
		}
		b.WriteString(closeMark)
	}
	return b.String()
}

// fence encloses a text that somebody wrote, with what is known of it on lines before it.
func fence(known [][2]string, text string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n"+openMark+"\n", strings.TrimSpace(pageDirective), 1)
	for _, line := range known {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", line[0], unbracket.Replace(line[1]))
		}
	}
	b.WriteString("\n" + unbracket.Replace(text) + "\n" + closeMark)
	return b.String()
}

// plain makes one line of text out of HTML: without tags, scripts and styles, entities decoded, white space joined.
func plain(markup string) string {
	var words strings.Builder
	skip := ""
	z := html.NewTokenizer(strings.NewReader(strings.ToValidUTF8(markup, "\ufffd")))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(clean(words.String())), " ")
		case html.TextToken:
			if skip == "" {
				words.Write(z.Text())
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			if tag := string(name); tag == "script" || tag == "style" {
				skip = tag
			}
			words.WriteByte(' ')
		case html.EndTagToken:
			name, _ := z.TagName()
			if string(name) == skip {
				skip = ""
			}
			words.WriteByte(' ')
		default:
			words.WriteByte(' ')
		}
	}
}

// clean takes out what is not for reading: control characters, and those that are not seen or turn the text around.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < 0x20 || r == 0x7f, r >= 0x80 && r < 0xa0, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e,
			r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
			return -1
		}
		return r
	}, text)
}
