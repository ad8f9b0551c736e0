package program

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// soakSecret signs both ways of the webhook.
const soakSecret = "a secret of this test alone, long enough"

// note is what is posted to the webhook.
type note struct {
	Type        string    `json:"type,omitempty"`
	Chat        string    `json:"chatId"`
	User        string    `json:"userId"`
	Message     string    `json:"messageId"`
	Text        string    `json:"text,omitempty"`
	Attachments []picture `json:"attachments,omitempty"`
}

type picture struct {
	Kind string `json:"kind"`
	MIME string `json:"mimeType"`
	Name string `json:"name"`
}

// letter is what comes back.
type letter struct {
	Type    string `json:"type"`
	Chat    string `json:"chatId"`
	ReplyTo string `json:"replyTo"`
	Text    string `json:"text"`
}

// mailbox takes the letters of a bot, each once.
type mailbox struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	keys    map[string]letter
	letters []letter
}

func newMailbox(t *testing.T) *mailbox {
	m := &mailbox{t: t, keys: map[string]letter{}}
	m.Server = httptest.NewServer(http.HandlerFunc(m.take))
	t.Cleanup(m.Close)
	return m
}

// take keeps a letter. Now and then it says that it could not, when it had: the same letter comes again then, and has
// to be known by its key.
func (m *mailbox) take(rw http.ResponseWriter, r *http.Request) {
	var l letter
	key := r.Header.Get("Idempotency-Key")
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&l); err != nil || key == "" {
		m.t.Errorf("a letter that cannot be read, with the key %q: %v", key, err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, known := m.keys[key]
	switch {
	case known && old != l:
		m.t.Errorf("one key, two letters: %+v, %+v", old, l)
	case !known:
		m.keys[key] = l
		m.letters = append(m.letters, l)
		if len(m.letters)%10 == 0 {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	}
}

func (m *mailbox) all() []letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]letter(nil), m.letters...)
}

// answers are the texts that came to a message.
func (m *mailbox) answers(message string) (texts []string) {
	for _, l := range m.all() {
		if l.ReplyTo == message {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

// post sends a note, signed, and returns what came of it.
func (b *bot) post(n note) (status int, accepted bool, err error) {
	body, err := json.Marshal(n)
	if err != nil {
		return 0, false, err
	}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+"/webhook/generic", bytes.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(soakSecret))
	_, _ = fmt.Fprintf(mac, "%s.%s", stamp, body) // a hash takes everything
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Familiar-Timestamp", stamp)
	req.Header.Set("X-Familiar-Signature", hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, false, err
	}
	defer resp.Body.Close()
	var answer struct {
		Accepted bool `json:"accepted"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&answer)
	return resp.StatusCode, answer.Accepted, err
}
