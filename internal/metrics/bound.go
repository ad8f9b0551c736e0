package metrics

import (
	"strings"
	"sync"
)

// Bounds of labels. Every new value is a series that is kept for as long as the program runs, so what comes from
// outside must not make new ones without end. A bot has a few platforms, and a few dozen tools and phases.
const (
	maxValues = 64 // of one label
	maxValue  = 64 // bytes of one value
	beyond    = "other"
)

// bound lets so many values of a label through. The zero value is ready. Safe for concurrent use.
type bound struct {
	mu   sync.Mutex
	seen map[string]bool
}

// value returns what stands for v as the value of the label.
func (b *bound) value(v string) string {
	if len(v) > maxValue {
		v = v[:maxValue]
	}
	v = strings.ToValidUTF8(v, "")
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.seen[v] {
		return v
	}
	if len(b.seen) >= maxValues {
		return beyond
	}
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	b.seen[v] = true
	return v
}
