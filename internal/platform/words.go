package platform

import (
	"slices"
	"strings"
)

// Unreadable stands in a message's text for what is not read, hidden from us or gone: agents see that something is there.
const Unreadable = "[Something that cannot be read here]"

// Words makes one text of the pieces that a message is made of; empty ones are left out.
func Words(pieces ...string) string {
	return strings.Join(slices.DeleteFunc(pieces, func(s string) bool { return s == "" }), " ")
}

// Poll is a poll in words: its question, where it has one of its own, and what there is to choose from.
func Poll(parts ...string) string { return "[Poll: " + strings.Join(parts, " | ") + "]" }
