package audit

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"familiar/internal/journal"
	"familiar/internal/redact"
)

// record is the part of a session's file that one turn writes.
type record struct {
	session string

	mu    sync.Mutex
	file  *journal.Journal // nil when it could not be opened, or is closed
	tally SessionEnd       // the counts so far
}

// lineJSON is one line of a session's file.
type lineJSON struct {
	TS    string          `json:"ts"`
	Phase string          `json:"phase"`
	Data  json.RawMessage `json:"data"`
}

// note writes an entry. The time is taken under the lock, so that the lines of a turn are in its order.
func (r *record) note(e Entry, hash bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := time.Now()
	e = r.add(e)
	if r.file == nil {
		return nil // that was said when it was opened
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if hash {
		if data, err = contentHashed.JSON(data); err != nil {
			return err
		}
	}
	line, err := json.Marshal(lineJSON{at.UTC().Format(iso), e.Phase(), data})
	if err != nil {
		return err
	}
	return r.file.Append(line)
}

// count takes note of an entry that is not written.
func (r *record) count(e Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(e)
}

// add counts e; the end of the session is returned with what was counted.
func (r *record) add(e Entry) Entry {
	switch e := e.(type) {
	case ReplySent:
		r.tally.RepliesCount++
	case SkillCall:
		r.tally.SkillCallsCount++
	case MemoryOperation:
		r.tally.MemoryOpsCount++
	case PermissionApproved, PermissionDenied:
		r.tally.PermissionDecisionsCount++
	case SessionEnd:
		e.RepliesCount, e.SkillCallsCount = r.tally.RepliesCount, r.tally.SkillCallsCount
		e.MemoryOpsCount, e.PermissionDecisionsCount = r.tally.MemoryOpsCount, r.tally.PermissionDecisionsCount
		return e
	}
	return e
}

func (r *record) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	file := r.file
	r.file = nil
	return shut(file)
}

// path is the file that the turn writes, "" when there is none.
func (r *record) path() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return ""
	}
	return r.file.Path()
}

// shut closes a file when what it holds is on the disk, and in any case.
func shut(file *journal.Journal) error { return errors.Join(file.Sync(), file.Close()) }

// iso is how times are written: UTC, to the millisecond.
const iso = "2006-01-02T15:04:05.000Z"

// contentHashed replaces what people said by its hash, wherever it stands in an entry.
var contentHashed = redact.Rules{Field: func(name string) func(json.RawMessage) string {
	switch strings.ToLower(name) {
	case "content", "query", "text", "message", "replycontent", "caption":
		return hashedValue
	}
	return nil
}}

// hashedValue hashes the text of a JSON string, and any other value as it is written.
func hashedValue(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && value[0] == '"' {
		return hashed([]byte(text))
	}
	return hashed(value)
}
