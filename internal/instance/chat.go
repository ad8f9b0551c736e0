package instance

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"familiar/internal/sheet"
)

// chatMost bounds what is read of the chat's history, in bytes.
const chatMost = 1 << 20

func (i Instance) chatFile() string { return filepath.Join(i.State(), "chat.history") }

// ReadChat returns the history of what the owner wrote in a terminal; "" when there is none that can be read.
func (i Instance) ReadChat() string {
	file, err := os.OpenFile(i.chatFile(), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, chatMost))
	if err != nil {
		return ""
	}
	return string(text)
}

// WriteChat replaces the history; nobody else can read it.
func (i Instance) WriteChat(text string) error {
	if err := sheet.Write(i.chatFile(), []byte(text)); err != nil {
		return fmt.Errorf("keep the history: %w", err)
	}
	return nil
}
