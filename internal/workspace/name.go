package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestName is the most bytes of a cleaned id that a folder's name keeps; file systems end at 255.
const longestName = 180

// folderName makes one path element of an id that somebody else chose. It has no separator, no "..", no leading
// dot, and is never empty. Where it is not the id itself, or the id has upper case (on some disks case does not
// tell names apart), "~" and 8 hex digits of the id's SHA-256 keep ids apart.
func folderName(id string) string {
	name := clean(id)
	if name == id && !strings.ContainsFunc(id, unicode.IsUpper) {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	return name + "~" + hex.EncodeToString(sum[:4])
}

// clean replaces and strips what must not stand in a folder's name.
func clean(id string) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == utf8.RuneError || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, id)
	name = strings.ReplaceAll(name, "..", "_")
	name = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(name), "."))
	for len(name) > longestName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	name = strings.TrimSpace(name)
	if name == "" || name[0] == '.' {
		name = "_" + name
	}
	return name
}
