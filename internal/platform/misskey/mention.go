package misskey

import (
	"strings"
	"unicode/utf8"
)

// unmention takes every mention of us out of a text and trims it; found says whether there was one. A mention is @name
// or @name@host of the instance, in any case; of another host it is of somebody else.
func (a account) unmention(text string) (rest string, found bool) {
	var out strings.Builder
	for at := 0; at < len(text); {
		if n := a.mentionAt(text, at); n > 0 {
			found = true
			at += n
			continue
		}
		_, n := utf8.DecodeRuneInString(text[at:])
		out.WriteString(text[at : at+n])
		at += n
	}
	return strings.TrimSpace(out.String()), found
}

// mentionAt returns how many bytes at a position are a mention of us.
func (a account) mentionAt(text string, at int) int {
	if a.Username == "" || text[at] != '@' || at > 0 && (wordByte(text[at-1]) || text[at-1] == '@') {
		return 0
	}
	name := nameAt(text, at+1)
	if !strings.EqualFold(name, a.Username) {
		return 0
	}
	end := at + 1 + len(name)
	if end == len(text) || text[end] != '@' {
		return end - at
	}
	host := nameAt(text, end+1)
	bare, port, _ := strings.Cut(a.Host, ":")
	switch whole := end + 1 + len(host); {
	case host == "":
		return end - at
	case !strings.EqualFold(host, bare):
		return 0
	case port != "" && strings.HasPrefix(text[whole:], ":"+port):
		return whole + 1 + len(port) - at
	default:
		return whole - at
	}
}

// nameAt returns the name of a user or a host at a position: dots and dashes belong to it within, not at its end.
func nameAt(text string, at int) string {
	end := at
	for end < len(text) && (wordByte(text[end]) || text[end] == '.' || text[end] == '-') {
		end++
	}
	return strings.TrimRight(text[at:end], ".-")
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}
