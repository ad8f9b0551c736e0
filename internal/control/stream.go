package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Event is one line of a session's stream, as far as we read it. Types are those of the web platform.
type Event struct {
	Index int64     `json:"index"`
	At    time.Time `json:"at"`
	Type  string    `json:"type"`
	Data  struct {
		Message string `json:"messageId"`
		Text    string `json:"text"`
		ReplyTo string `json:"replyTo"`
		Emoji   string `json:"emoji"`
		Turn    string `json:"turnId"`
		Answers string `json:"answers"` // the message that a turn is about
		Tool    string `json:"tool"`
		OK      bool   `json:"ok"`
		Reason  string `json:"reason"` // why a turn failed, and what can be done about it
		Next    string `json:"next"`
		Files   []struct {
			Name string `json:"name"`
			Path string `json:"path"` // on the bot's server
		} `json:"files"`
	} `json:"data"`
}

// files is a message with files in words: the caption, and what was sent and where it is, a line each.
func (ev Event) files(base string) string {
	var lines []string
	if ev.Data.Text != "" {
		lines = append(lines, ev.Data.Text)
	}
	for _, f := range ev.Data.Files {
		lines = append(lines, f.Name+" "+base+f.Path)
	}
	return strings.Join(lines, "\n")
}

const (
	maxLine = 2 << 20          // bytes of one line of a stream: a reply of the longest length, escaped
	silent  = 40 * time.Second // the bot sends an empty line every 15 s: after this the connection is dead
)

// errSilent ends a connection on which nothing comes any more.
var errSilent = errors.New("the bot has gone silent")

// Stream hands the events of a session to see, from an index on and then as they come, until see wants no more (it
// then returns nil), ctx ends or the connection breaks. A negative index counts from the end.
func (c *Client) Stream(ctx context.Context, session string, from int64, see func(Event) bool) error {
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	watch := time.AfterFunc(silent, func() { cut(errSilent) })
	defer watch.Stop()
	resp, err := c.ask(ctx, http.MethodGet, fmt.Sprintf("/v1/sessions/%s/stream?startIndex=%d", url.PathEscape(session), from), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was read, or the caller went away
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		watch.Reset(silent)
		var ev Event
		if len(lines.Bytes()) == 0 || json.Unmarshal(lines.Bytes(), &ev) != nil {
			continue // a line that keeps the connection alive
		}
		if !see(ev) {
			return nil
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return errors.Join(errors.New("the stream ended"), lines.Err())
}
