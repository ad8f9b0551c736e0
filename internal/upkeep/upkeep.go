// Package upkeep lets an agent tidy the memories of people who have many: it shows them all to it, once in a while. What
// the agent does with them it does with the tools that it has for any person.
package upkeep

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"
	"time"
)

// Memory is what the agent is shown of a memory.
type Memory struct {
	ID         string    `json:"id"`
	Visibility string    `json:"visibility"`
	Importance string    `json:"importance"`
	Content    string    `json:"content"`
	CreatedAt  time.Time `json:"createdAt"`
}

// Needs reports whether a person with so many enabled memories is to be tidied.
func (c Config) Needs(memories int) bool { return memories >= c.MinMemoryCount }

//go:embed nothing.md
var nothing string

// Dump writes memories, the oldest first, as the JSON that the agent reads; a sentence when there are none.
func Dump(all []Memory) (string, error) {
	if len(all) == 0 {
		return strings.TrimSpace(nothing), nil
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // it is read, not put into a page
	enc.SetIndent("", "  ")
	if err := enc.Encode(all); err != nil {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}
