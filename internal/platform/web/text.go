package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/chat"
)

// maxID is the longest id that a caller may give to a message, in runes.
const maxID = 128

// wording returns the text as it is kept, or what is wrong with it or with the id.
func wording(text, id string) (string, error) {
	if utf8.RuneCountInString(id) > maxID || strings.ContainsFunc(id, unicode.IsControl) {
		return "", bad("id must be at most %d characters, without control characters", maxID)
	}
	text = clean(text)
	if strings.TrimSpace(text) == "" {
		return "", bad("message is empty")
	}
	return text, nil
}

// clean drops what no terminal or model should get: control characters other than line breaks and tabs. Bad
// UTF-8 became U+FFFD when the JSON was read.
func clean(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, text)
}

// title is the first words of a session; a command names nothing.
func title(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	first = strings.Join(strings.Fields(first), " ")
	if strings.HasPrefix(first, "/") {
		return ""
	}
	if runes := []rune(first); len(runes) > 60 {
		return strings.TrimSpace(string(runes[:59])) + "…"
	}
	return first
}

// hash makes an opaque name of parts; parts never run into each other, since none but the last holds a NUL.
func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// newID mints an opaque id.
func newID(prefix string) chat.MessageID {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return chat.MessageID(prefix + hex.EncodeToString(id[:]))
}

// isSession says whether an id can be one of a session.
func isSession(id string) bool {
	if len(id) != 34 || id[:2] != "s_" {
		return false
	}
	for _, c := range id[2:] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
