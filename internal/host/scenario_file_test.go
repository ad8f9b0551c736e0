package host

import (
	"regexp"
	"strings"
)

// archive is a file in the txtar format: some words, then sections, each after a line «-- NAME --».
type archive struct {
	head     string
	sections []section
}

type section struct{ name, text string }

var marker = regexp.MustCompile(`(?m)^-- (\S+) --\n`)

func readArchive(text string) (a archive) {
	at := marker.FindAllStringSubmatchIndex(text, -1)
	if len(at) == 0 {
		return archive{head: text}
	}
	a.head = text[:at[0][0]]
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		a.sections = append(a.sections, section{text[m[2]:m[3]], text[m[1]:end]})
	}
	return a
}

func (a archive) section(name string) string {
	for _, s := range a.sections {
		if s.name == name {
			return s.text
		}
	}
	return ""
}

func (a archive) String() string {
	var b strings.Builder
	b.WriteString(a.head)
	for _, s := range a.sections {
		b.WriteString("-- " + s.name + " --\n" + s.text)
	}
	return b.String()
}
