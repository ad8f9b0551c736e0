package research

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// decoded makes UTF-8 of a text, in whichever of the web's encodings it is written. claim is what its server or its first
// line says of that, "" for nothing. What can be read as UTF-8 is, whatever is claimed.
func decoded(raw []byte, claim string) (string, error) {
	if utf8.Valid(raw) {
		return string(raw), nil
	}
	in := bufio.NewReader(bytes.NewReader(raw))
	reader, err := charset.NewReader(in, "text/html; charset="+claim)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(reader, 4*int64(len(raw)))) // no encoding grows more
	return strings.ToValidUTF8(string(text), "\ufffd"), err
}

// xmlLine is the line with which a text in XML begins, and encoding what that says of how the text is written.
var (
	xmlLine  = regexp.MustCompile(`^\s*<\?xml\s[^>]{0,400}\?>`)
	encoding = regexp.MustCompile(`\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)
)

// decodedXML is decoded for XML. It takes the first line away, which is not true any more.
func decodedXML(raw []byte, claim string) (string, error) {
	if own := encoding.FindSubmatch(xmlLine.Find(raw)); own != nil {
		claim = cmp.Or(claim, string(own[1]))
	}
	text, err := decoded(raw, claim)
	text = strings.TrimPrefix(text, "\ufeff")
	return text[len(xmlLine.FindString(text)):], err
}
