package rehearsal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/sheet"
)

// write writes a prompt to a file of its own, and returns its path.
func (s *session) write(blocks []agent.Block) (string, error) {
	if err := os.MkdirAll(s.deps.Dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(s.deps.Dir, fileName(s.kind, s.deps.Now(), s.tools.Session()))
	return path, sheet.Write(path, []byte(written(blocks)))
}

// fileName is <type>_<time>_<session>.md, such as message_2025-01-15T10-30-00-000Z_1f0c44aa.md. The end of a session's
// id is what tells it from others of the same moment: its beginning is a prefix and the time.
func fileName(kind chat.SessionType, at time.Time, session string) string {
	stamp := strings.NewReplacer(":", "-", ".", "-").Replace(at.UTC().Format("2006-01-02T15:04:05.000Z"))
	const tail = 8
	return fmt.Sprintf("%s_%s_%s.md", strings.ReplaceAll(string(kind), "-", "_"), stamp, session[max(0, len(session)-tail):])
}

// written is the prompt as it stands in a file: the words as they are, a line for each picture.
func written(blocks []agent.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		switch block := block.(type) {
		case agent.Text:
			b.WriteString(string(block))
		case agent.Image:
			fmt.Fprintf(&b, "\n\n[image: %s, %d bytes]", block.MIME, len(block.Data))
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
