package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"familiar/internal/secret"
)

// events are lines of a stream, written short: type and data.
func events(t *testing.T, lines ...string) string {
	t.Helper()
	var all strings.Builder
	for i, line := range lines {
		kind, data, _ := strings.Cut(line, " ")
		if data == "" {
			data = "{}"
		}
		if !json.Valid([]byte(data)) {
			t.Fatal(line)
		}
		fmt.Fprintf(&all, "\n{\"index\":%d,\"at\":\"2026-01-02T03:04:05Z\",\"type\":%q,\"data\":%s}\n", i, kind, data)
	}
	return all.String()
}

// bot serves one stream and takes every message as m1; a message with the id "again" it had already.
func bot(t *testing.T, stream string) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		switch {
		case r.Method == http.MethodGet && r.URL.Query().Get("startIndex") == "7":
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, `{"error":"no longer kept","firstIndex":9}`)
		case r.Method == http.MethodGet:
			fmt.Fprint(w, stream)
		case json.NewDecoder(r.Body).Decode(&m) == nil && m.ID == "again":
			fmt.Fprint(w, `{"accepted":true,"duplicate":true}`)
		default:
			fmt.Fprint(w, `{"ok":true,"sessionId":"s1","messageId":"m1"}`)
		}
	}))
	t.Cleanup(server.Close)
	return New(server.URL, secret.New("token"))
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		lines        []string
		text, status string
		err          string
	}{
		"a reply": {[]string{`turn.started {"turnId":"t1","answers":"m1"}`, `message.completed {"text":"hi","turnId":"t1"}`,
			`turn.completed {"turnId":"t1","answers":"m1"}`, `message.completed {"text":"late","turnId":"t1"}`}, "hi", "completed", ""},
		"a place in line comes before it": {[]string{`message.completed {"text":"two ahead","replyTo":"m1"}`, `turn.started {"turnId":"t1","answers":"m1"}`,
			`message.completed {"text":"a","replyTo":"m1"}`, `message.completed {"text":"b","turnId":"t1"}`, `turn.completed {"turnId":"t1","answers":"m1"}`}, "a\n\nb", "completed", ""},
		"another turn is another's": {[]string{`turn.started {"turnId":"t0","answers":"m0"}`, `turn.started {"turnId":"t1","answers":"m1"}`,
			`message.completed {"text":"to m0","turnId":"t0","replyTo":"m0"}`, `turn.failed {"turnId":"t0","answers":"m0"}`,
			`message.completed {"text":"x","turnId":"t1"}`, `message.updated {"text":"y"}`, `turn.completed {"turnId":"t1"}`}, "y", "completed", ""},
		"files": {[]string{`turn.started {"turnId":"t1","answers":"m1"}`, `message.files {"replyTo":"m0","files":[{"name":"other"}]}`,
			`message.files {"text":"look","replyTo":"m1","files":[{"name":"a.txt","path":"/v1/a"},{"name":"b","path":"/v1/b"}]}`,
			`turn.completed {"turnId":"t1"}`}, "look\na.txt URL/v1/a\nb URL/v1/b", "completed", ""},
		"files of a command": {[]string{`message.files {"files":[{"name":"other"}]}`, `turn.started {"turnId":"t1","answers":"m1"}`,
			`message.files {"files":[{"name":"all.md","path":"/v1/a"}]}`, `message.completed {"text":"here","replyTo":"m1"}`,
			`turn.completed {"turnId":"t1"}`}, "all.md URL/v1/a\n\nhere", "completed", ""},
		"silence":                 {[]string{`turn.started {"turnId":"t1","answers":"m1"}`, `turn.completed {"turnId":"t1","answers":"m1"}`}, "", "completed", "silence"},
		"a turn that was cut off": {[]string{`turn.started {"turnId":"t1","answers":"m1"}`, `turn.failed {"turnId":"t1"}`}, "", "failed", "without a word"},
		"why it failed": {[]string{`turn.started {"turnId":"t1","answers":"m1"}`, `message.completed {"text":"sorry","replyTo":"m1"}`,
			`turn.failed {"turnId":"t1","answers":"m1","reason":"no key","next":"set one"}`}, "sorry", "failed", "sorry\n  no key\n  set one"},
		"an end without an answer": {[]string{`turn.started {"turnId":"t1","answers":"m1"}`}, "", "", "ended"},
	} {
		t.Run(name, func(t *testing.T) {
			client := bot(t, events(t, c.lines...))
			reply, err := client.Say(t.Context(), "s1", "hello")
			c.text = strings.ReplaceAll(c.text, "URL", client.base)
			if err != nil && strings.Contains(err.Error(), "the turn failed: ") {
				t.Errorf("the bot's own words have a preface: %v", err)
			}
			if reply.Text != c.text || reply.Status != c.status || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v, %v", reply, err)
			}
		})
	}
}

// A message that was sent twice has no name in the answer: its words tell which it is.
func TestAnAnswerToAMessageThatWasSentTwice(t *testing.T) {
	c := bot(t, events(t, `message.received {"messageId":"m0","text":"other"}`, `turn.started {"turnId":"t0"}`, `turn.completed {"turnId":"t0"}`,
		`message.received {"messageId":"m1","text":"hello"}`, `turn.started {"turnId":"t1","answers":"m1"}`,
		`message.completed {"text":"hi","turnId":"t1"}`, `turn.completed {"turnId":"t1","answers":"m1"}`))
	posted, err := c.Post(t.Context(), "s1", "again", "hello")
	if err != nil || posted.Session != "s1" || posted.Message != "" {
		t.Fatalf("%+v, %v", posted, err)
	}
	reply, err := c.Await(t.Context(), posted, 0)
	if err != nil || reply.Text != "hi" || reply.End != 7 {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestWhatIsNoLongerKept(t *testing.T) {
	err := bot(t, "").Stream(t.Context(), "s1", 7, func(Event) bool { return true })
	var refused Refused
	if !errors.As(err, &refused) || refused.First != 9 || refused.Temporary() {
		t.Errorf("%+v, %v", refused, err)
	}
}
