package terminal

import (
	"encoding/json"
	"strings"
)

// The bounds of a History.
const (
	keepEntries = 500
	keepEntry   = 8 << 10   // bytes of one entry; a longer one is not kept
	keepBytes   = 256 << 10 // bytes of all entries
)

// History is what was written before, oldest first. It lies in a file as one JSON string a line, since an entry may
// hold line breaks. A nil History is empty and stays so.
type History struct {
	entries []string
	bytes   int
}

// ReadHistory reads what Text wrote. Lines that are none are left out: a history is no reason to fail.
func ReadHistory(text string) *History {
	h := &History{}
	for line := range strings.Lines(text) {
		var entry string
		if json.Unmarshal([]byte(line), &entry) == nil {
			h.Add(entry)
		}
	}
	return h
}

// Add keeps an entry. One that repeats the last, is empty, begins with a space (as in shells) or is very long is not.
func (h *History) Add(entry string) bool {
	if strings.TrimSpace(entry) == "" || entry[0] == ' ' || len(entry) > keepEntry ||
		len(h.entries) > 0 && h.entries[len(h.entries)-1] == entry {
		return false
	}
	h.entries = append(h.entries, entry)
	h.bytes += len(entry)
	for len(h.entries) > keepEntries || h.bytes > keepBytes {
		h.bytes -= len(h.entries[0])
		h.entries = h.entries[1:]
	}
	return true
}

// Text is the history as it lies in a file.
func (h *History) Text() string {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for _, entry := range h.entries {
		_ = enc.Encode(entry) // a string always can be encoded
	}
	return text.String()
}

func (h *History) len() int {
	if h == nil {
		return 0
	}
	return len(h.entries)
}
