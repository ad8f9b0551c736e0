package control

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// line is one line of a session's stream, as far as we read it.
type line struct {
	Index int64  `json:"index"`
	Type  string `json:"type"`
	Data  struct {
		Message string `json:"messageId"`
		Text    string `json:"text"`
		ReplyTo string `json:"replyTo"`
		Turn    string `json:"turnId"`
		Answers string `json:"answers"`
	} `json:"data"`
}

// maxLine bounds one line of a stream: a reply of the longest length, escaped.
const maxLine = 2 << 20

// Reply is what a message came to.
type Reply struct {
	Session string `json:"sessionId"`
	Text    string `json:"text"`
	Status  string `json:"status"` // completed, failed or cancelled
}

// ErrSilence says that the turn ended well and said nothing.
var ErrSilence = errors.New("the bot answered with silence")

// Say sends a message and waits for what comes back: the reply of the turn that it caused, or whatever the bot
// said about it. A turn that ended without a word is ErrSilence; one that failed is an error that holds what the
// person was told.
func (c *Client) Say(ctx context.Context, session, text string) (Reply, error) {
	posted, err := c.Post(ctx, session, rand.Text(), text)
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{Session: posted.Session}
	resp, err := c.ask(ctx, http.MethodGet, "/v1/sessions/"+posted.Session+"/stream?startIndex=0", nil)
	if err != nil {
		return reply, err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read, or the caller went away
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	w := wait{message: posted.Message}
	for lines.Scan() {
		var l line
		if len(lines.Bytes()) == 0 || json.Unmarshal(lines.Bytes(), &l) != nil {
			continue // a line that keeps the connection alive
		}
		if !w.saw(l) {
			continue
		}
		reply.Text, reply.Status = strings.Join(w.texts, "\n\n"), w.status
		return reply, w.verdict(reply.Text)
	}
	if err := context.Cause(ctx); err != nil {
		return reply, err
	}
	return reply, errors.Join(errors.New("the stream ended before the answer"), lines.Err())
}

// wait follows a stream until the turn of one message has ended.
type wait struct {
	message string
	turn    string
	texts   []string
	status  string
}

// saw takes one line, and reports whether it was the last that matters.
func (w *wait) saw(l line) bool {
	switch kind, stage, _ := strings.Cut(l.Type, "."); {
	case l.Type == "turn.started" && l.Data.Answers == w.message:
		w.turn, w.texts = l.Data.Turn, nil
	case l.Type == "message.completed" && l.Data.ReplyTo == w.message, l.Type == "message.completed" && l.Data.Turn == w.turn && w.turn != "":
		w.texts = append(w.texts, l.Data.Text)
	case l.Type == "message.updated" && len(w.texts) > 0 && w.turn != "":
		w.texts = []string{l.Data.Text}
	case kind == "turn" && stage != "started" && l.Data.Answers == w.message:
		w.status = stage
		return true
	}
	return false
}

func (w *wait) verdict(text string) error {
	switch {
	case w.status != "completed" && text == "":
		return fmt.Errorf("the turn %s without a word", w.status)
	case w.status == "failed":
		return fmt.Errorf("the turn failed: %s", text)
	case text == "":
		return ErrSilence
	}
	return nil
}
