package acp

import (
	"log/slog"
	"strings"
	"sync"
)

// keptWords is how much of an agent's standard error is kept for the error of a failed start, in bytes.
const keptWords = 2048

// stderr takes what an agent writes to its standard error. Agents dump whole prompts there, so nothing of it is
// logged but that it came, of the first few lines one by one. Until the first prompt nothing of a conversation can
// be in it: so long the last words are kept, since they are often the only thing that says why an agent does not
// start.
type stderr struct {
	log *slog.Logger

	mu     sync.Mutex
	count  int // the lines so far
	text   strings.Builder
	closed bool
}

func (e *stderr) line(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.count++; e.count <= loggedNoise {
		e.log.Debug("the agent wrote to its standard error", "bytes", len(line))
	}
	if e.closed {
		return
	}
	e.text.WriteString(short(line, keptWords))
	e.text.WriteByte('\n')
	if e.text.Len() > keptWords {
		rest := e.text.String()
		rest = rest[len(rest)-keptWords:]
		e.text.Reset()
		e.text.WriteString(strings.ToValidUTF8(rest, ""))
	}
}

// forget drops what was kept, and keeps no more: a prompt is about to be sent.
func (e *stderr) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	e.text.Reset()
}

// lines returns how many came.
func (e *stderr) lines() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.count
}

// last returns what was kept.
func (e *stderr) last() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.TrimSpace(e.text.String())
}
