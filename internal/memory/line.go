package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"familiar/internal/chat"
	"familiar/internal/journal"
)

// iso is how times are written: UTC, to the millisecond.
const iso = "2006-01-02T15:04:05.000Z"

// line is every field that a line of a memory file may have. Patches come in two forms: with target_id and
// changes, which we write, and an older flat one with targetId and the changes beside it.
type line struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	TargetID  string `json:"target_id,omitempty"`
	OldTarget string `json:"targetId,omitempty"`
	TS        string `json:"ts"`
	Changes
	Content  string   `json:"content,omitempty"`
	Standing string   `json:"standing,omitempty"`
	Nested   *Changes `json:"changes,omitempty"`
}

// patch is a patch as it was read.
type patch struct {
	target  string
	at      time.Time
	changes Changes
}

// parsed is what one file holds, in the order of the file.
type parsed struct {
	memories []Memory
	patches  []patch
}

// add takes in one line. A line that is none of ours is journal.ErrSkip; a kind that we do not know yet is
// passed over.
func (p *parsed) add(raw []byte, file fileKind) error {
	l, ok := quick(raw)
	if !ok {
		var err error
		if l, err = decode(raw); err != nil {
			return err
		}
	}
	switch l.Type {
	case "memory":
		m, err := l.memory(file)
		if err != nil {
			return err
		}
		p.memories = append(p.memories, m)
	case "patch":
		one, err := l.patch()
		if err != nil {
			return err
		}
		p.patches = append(p.patches, one)
	case "":
		return journal.ErrSkip
	}
	return nil
}

// decode reads any line; it stands apart from quick, whose lines then need no place on the heap.
func decode(raw []byte) (l line, err error) {
	if err := json.Unmarshal(raw, &l); err != nil {
		return line{}, fmt.Errorf("%w: %w", journal.ErrSkip, err)
	}
	return l, nil
}

func (l line) memory(file fileKind) (Memory, error) {
	at, err := time.Parse(time.RFC3339, l.TS)
	if err != nil || l.ID == "" || l.Content == "" {
		return Memory{}, journal.ErrSkip
	}
	m := Memory{ID: l.ID, At: at, ModifiedAt: at, Enabled: true, Visibility: file.visibility(), Importance: Normal,
		Content: l.Content, RelatedTo: l.RelatedTo, Supersedes: l.Supersedes, Standing: trust(l.Standing), file: file}
	m.apply(l.Changes)
	m.ModifiedAt = at
	return m, nil
}

func (l line) patch() (patch, error) {
	p := patch{target: l.TargetID, changes: l.Changes}
	if p.target == "" {
		p.target = l.OldTarget
	}
	if l.Nested != nil {
		p.changes = *l.Nested
	}
	at, err := time.Parse(time.RFC3339, l.TS)
	if err != nil || p.target == "" {
		return patch{}, journal.ErrSkip
	}
	p.at = at
	return p, nil
}

// trust reads a standing; a word that is not known is trusted least, none at all lowers nobody.
func trust(word string) chat.Trust {
	switch word {
	case "":
		return 0
	case chat.Public.String():
		return chat.Public
	case chat.Known.String():
		return chat.Known
	case chat.Owner.String():
		return chat.Owner
	}
	return chat.Foreign
}

// encode writes a memory as one line.
func (m Memory) encode() ([]byte, error) {
	l := line{Type: "memory", ID: m.ID, TS: m.At.Format(iso), Content: m.Content}
	l.Changes = Changes{&m.Enabled, &m.Visibility, &m.Importance, m.RelatedTo, m.Supersedes}
	if m.Standing != 0 && m.Standing < chat.Owner {
		l.Standing = m.Standing.String()
	}
	return l.encode()
}

// encode writes a patch as one line.
func (p Patch) encode() ([]byte, error) {
	return line{Type: "patch", ID: p.ID, TargetID: p.Target, TS: p.At.Format(iso), Nested: &p.Changes}.encode()
}

func (l line) encode() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // people read these files
	if err := enc.Encode(l); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}
