package outbox

import (
	"regexp"
	"strings"
)

// tag is what models write round emojis and never mean to send. A custom emoji (<:name:1>, <a:name:1>) does not
// match: a colon follows the name.
var tag = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9_]*>`)

// code is a fenced block or an inline span: what stands there is meant as written.
var code = regexp.MustCompile("(?s)```.*?(?:```|$)|`[^`\n]+`")

// clean mends what an agent wrote: tags are taken off (the text inside stays), then a literal backslash and n
// becomes a line break. Code is left alone.
func clean(text string) string {
	var out strings.Builder
	at := 0
	for _, span := range code.FindAllStringIndex(text, -1) {
		out.WriteString(cleanProse(text[at:span[0]]))
		out.WriteString(text[span[0]:span[1]])
		at = span[1]
	}
	out.WriteString(cleanProse(text[at:]))
	return out.String()
}

func cleanProse(text string) string {
	return strings.ReplaceAll(tag.ReplaceAllString(text, ""), `\n`, "\n")
}
