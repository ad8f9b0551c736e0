package webhook

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest name of a file, in bytes: what file systems take.
const maxName = 255

// nameless is what a file is called whose name says nothing.
const nameless = "file"

// safeName makes the name of a foreign file one that can only name something inside the folder that it is put in:
// the last part of a path in the ways of Unix and of Windows, without control and direction characters. It may be
// shown to people and to an agent, who may use it as a name.
func safeName(name string) string {
	name = strings.ToValidUTF8(name, "")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if _, after, drive := strings.Cut(name, ":"); drive { // C:x, and the streams of NTFS
		name = after
	}
	name = strings.Map(func(c rune) rune {
		if !unicode.IsGraphic(c) || strings.ContainsRune(`:<>"|?*`, c) {
			return -1
		}
		return c
	}, name)
	name = strings.TrimLeft(strings.TrimRight(strings.TrimSpace(name), ". "), "-. ")
	for len(name) > maxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name == "" {
		return nameless
	}
	return name
}
