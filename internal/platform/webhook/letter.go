package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"familiar/internal/chat"
)

// The types of what goes out.
const (
	typeMessage  = "message"
	typeEdit     = "edit"
	typeDelete   = "delete"
	typeReaction = "reaction"
	typeFiles    = "files"
	typeQuestion = "question"
)

// letter is the body of what goes out. A message has chatId, userId, replyTo, sequence and text, in any case.
type letter struct {
	Type      string         `json:"type"`
	ChatID    string         `json:"chatId"`
	UserID    string         `json:"userId"`
	MessageID chat.MessageID `json:"messageId"`
	ReplyTo   chat.MessageID `json:"replyTo"`
	Sequence  int            `json:"sequence,omitempty"` // 1 is the first that answers one message
	Text      string         `json:"text"`
	Emoji     string         `json:"emoji,omitempty"`
	Files     []enclosure    `json:"files,omitempty"`
	Options   []option       `json:"options,omitempty"`
}

type enclosure struct {
	Name   string `json:"name"`
	MIME   string `json:"mimeType"`
	Base64 string `json:"base64"`
}

type option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// maxEnclosed bounds the files of one letter together, in bytes.
const maxEnclosed = 5 << 20

// enclose reads files into a letter.
func enclose(files []chat.File) (all []enclosure, err error) {
	left := int64(maxEnclosed)
	for _, f := range files {
		data, err := read(f.Path, left)
		if err != nil {
			return nil, fmt.Errorf("enclose %q: %w", safeName(f.Name), err)
		}
		left -= int64(len(data))
		all = append(all, enclosure{safeName(f.Name), f.MIME, base64.StdEncoding.EncodeToString(data)})
	}
	return all, nil
}

func read(path string, limit int64) (data []byte, err error) {
	file, err := os.Open(path) //nolint:gosec // whoever made the action checked it
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is no regular file"))
	}
	if data, err = io.ReadAll(io.LimitReader(file, limit+1)); err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the files of one message are larger than %d MiB together", maxEnclosed>>20)
	}
	return data, err
}

// ours begins the id of what we said.
const ours = "b_"

// newID mints the id of a letter.
func newID() string {
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return ours + hex.EncodeToString(id[:])
}

// isOurs says whether an id has the form of those that we mint. Nobody else has one that we did not give out.
func isOurs(id string) bool {
	if len(id) != len(ours)+24 || id[:len(ours)] != ours {
		return false
	}
	_, err := hex.DecodeString(id[len(ours):])
	return err == nil
}
