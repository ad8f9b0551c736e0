package webhook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/chat"
)

// The kinds of request. An empty type is a message.
const (
	aMessage = "message"
	anEdit   = "edit"
	aRecall  = "recall"
)

// Bounds of one request, in runes and pieces.
const (
	maxID    = 256
	maxFiles = 20
)

// request is what is posted to us. Unknown keys are left alone: a program may send more than we read.
type request struct {
	Type        string   `json:"type"`
	ChatID      string   `json:"chatId"`
	UserID      string   `json:"userId"`
	UserName    string   `json:"userName"`
	MessageID   string   `json:"messageId"`
	ReplyTo     string   `json:"replyTo"`
	Text        string   `json:"text"`
	ChatType    string   `json:"chatType"`
	Mentioned   bool     `json:"mentioned"`
	Revision    string   `json:"revision"`
	Attachments []posted `json:"attachments"`
}

// posted is a file that came along. Its content is not kept; the bot learns that it was there.
type posted struct {
	Kind   string `json:"kind"`
	MIME   string `json:"mimeType"`
	Name   string `json:"name"`
	URL    string `json:"url"`
	Base64 string `json:"base64"`
}

// eventOf reads a body. An error says in words for the sender what is wrong with it.
func eventOf(body []byte, now time.Time) (chat.Event, error) {
	q, err := decode(body)
	if err != nil {
		return chat.Event{}, err
	}
	kind := chat.Direct
	switch q.ChatType {
	case "", string(chat.Direct):
	case string(chat.Group):
		kind = chat.Group
	default:
		return chat.Event{}, fmt.Errorf("chatType is %q; it can be direct or group", short(q.ChatType))
	}
	ev := chat.Event{
		At: now, Place: chat.Place{Platform: Name, ID: q.ChatID, Kind: kind},
		From:    chat.Person{Platform: Name, ID: q.UserID, Name: oneLine(q.UserName), Us: isOurs(q.MessageID)},
		Message: chat.MessageID(q.MessageID), Addressed: kind == chat.Direct || q.Mentioned || isOurs(q.ReplyTo),
	}
	revision := ""
	if ev.Body, revision, err = q.what(); err != nil {
		return chat.Event{}, err
	}
	ev.ID = chat.NewEventID(Name, ev.Place, ev.Body.Kind(), q.MessageID, revision)
	return ev, nil
}

// decode reads the JSON object and checks what every request has.
func decode(body []byte) (q request, err error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&q); err != nil {
		return q, explain(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return q, errors.New("there is something after the JSON object")
	}
	for _, id := range []struct{ name, value string }{{"chatId", q.ChatID}, {"userId", q.UserID}, {"messageId", q.MessageID}} {
		if !isID(id.value) {
			return q, fmt.Errorf("%s must have 1 to %d characters, none of them a control character or a space at an end", id.name, maxID)
		}
	}
	if q.ReplyTo != "" && !isID(q.ReplyTo) || q.Revision != "" && !isID(q.Revision) {
		return q, fmt.Errorf("replyTo and revision have at most %d characters, none of them a control character or a space at an end", maxID)
	}
	return q, nil
}

// what returns the body of the event, and what tells one change of a message from another.
func (q request) what() (body chat.Body, revision string, err error) {
	text := clean(q.Text)
	blank := strings.TrimSpace(text) == ""
	switch q.Type {
	case "", aMessage:
		files, err := attachments(q.Attachments)
		if err == nil && blank && len(files) == 0 {
			err = errors.New("text is empty, and there is no attachment")
		}
		return chat.Said{Text: text, ReplyTo: chat.MessageID(q.ReplyTo), Attachments: files}, "", err
	case anEdit:
		if blank {
			return nil, "", errors.New("text is empty; to take a message back, send the type recall")
		}
		if revision = q.Revision; revision == "" {
			sum := sha256.Sum256([]byte(text))
			revision = hex.EncodeToString(sum[:])
		}
		return chat.Edited{Of: chat.MessageID(q.MessageID), Text: text}, revision, nil
	case aRecall:
		return chat.Recalled{Of: chat.MessageID(q.MessageID)}, "", nil
	}
	return nil, "", fmt.Errorf("type is %q; it can be message, edit or recall", short(q.Type))
}

func attachments(all []posted) (files []chat.Attachment, err error) {
	if len(all) > maxFiles {
		return nil, fmt.Errorf("there are %d attachments; the most is %d", len(all), maxFiles)
	}
	for i, p := range all {
		mime := oneLine(p.MIME)
		if mime == "" && p.Kind == "image" {
			mime = "image/*"
		}
		files = append(files, chat.Attachment{ID: fmt.Sprint(i), Name: safeName(p.Name), MIME: mime, URL: oneLine(p.URL),
			Size: int64(len(p.Base64)) / 4 * 3})
	}
	return files, nil
}

func isID(id string) bool {
	return id != "" && utf8.RuneCountInString(id) <= maxID && utf8.ValidString(id) && strings.TrimSpace(id) == id &&
		!strings.ContainsFunc(id, func(c rune) bool { return !unicode.IsPrint(c) })
}

// clean drops what no terminal or model should get: control characters other than line breaks and tabs. Bad UTF-8
// became U+FFFD when the JSON was read.
func clean(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// oneLine is a bounded display text without line breaks.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(clean(text)), " ")
	if utf8.RuneCountInString(text) > 4*maxID {
		text = string([]rune(text)[:4*maxID])
	}
	return text
}

// short keeps a foreign word from filling an answer.
func short(word string) string {
	if runes := []rune(word); len(runes) > 20 {
		return string(runes[:20]) + "…"
	}
	return word
}

// explain turns an error of the JSON decoder into words for the sender.
func explain(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%s cannot be a %s", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("the body must be a JSON object, not a %s", kind.Value)
	case errors.Is(err, io.EOF):
		return errors.New("the body is empty; send a JSON object")
	}
	return errors.New("the body is no JSON object")
}
