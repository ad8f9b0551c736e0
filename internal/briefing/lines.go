package briefing

import (
	"fmt"
	"strings"

	"familiar/internal/chat"
)

// line tells one message of a conversation: who, then what; a second line lists the files that came with it.
func line(m chat.Message) string {
	return told(m, "")
}

// currentLine is the line of the message that is to be answered: it also has the id of who wrote it.
func currentLine(m chat.Message) string {
	return told(m, "("+oneLine(m.From.ID)+")")
}

func told(m chat.Message, id string) string {
	who := "[User] "
	if m.From.Bot || m.From.Us {
		who = "[Bot] "
	}
	called := name(m.From.Name)
	if called == "" {
		called = name(m.From.ID)
	}
	return who + called + id + ": " + block(m.Text) + attachments(m.Attachments)
}

// attachments returns the line about files, with the newline before it, or "".
func attachments(files []chat.Attachment) string {
	if len(files) == 0 {
		return ""
	}
	items := make([]string, len(files))
	for i, f := range files {
		kind := oneLine(f.MIME)
		if size := sized(f.Size); size != "" {
			kind += " " + size
		}
		items[i] = fmt.Sprintf("📎 %s (%s) %s", bound(oneLine(f.Name), longestName), kind, oneLine(f.URL))
	}
	return "\n  Attachments: " + strings.Join(items, " | ")
}

// sized writes a number of bytes for people, "" when it is not known.
func sized(bytes int64) string {
	const kilo = 1024
	switch {
	case bytes <= 0:
		return ""
	case bytes < kilo:
		return fmt.Sprintf("%dB", bytes)
	case bytes < kilo*kilo:
		return fmt.Sprintf("%.1fKB", float64(bytes)/kilo)
	}
	return fmt.Sprintf("%.1fMB", float64(bytes)/kilo/kilo)
}
