package program

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The ways of the sessions, as the script knows them by a word in each message.
const (
	plain     = "way-plain"     // a memory, then the reply
	silent    = "way-silent"    // nothing at first, the reply when asked again
	talkative = "way-talkative" // after the reply another one, and another memory
	failing   = "way-failing"   // no reply at all
)

var ways = []string{plain, plain, silent, talkative, failing}

// conversation is everything that people say to the bot.
type conversation struct {
	*bot
	rng      *rand.Rand // used by the test's goroutine only
	sessions []*session
	all      []*said
	seen     chan string
}

// session is one conversation of the web platform. Its messages are posted one after another.
type session struct {
	way  string
	id   string // "" until it was opened
	next int    // the first line that was not seen
	rest []*said
}

// said is a message. Its number is in its text.
type said struct {
	number   int
	text     string
	session  *session
	accepted bool // answered with 202 at least once
}

func (m *said) id() string    { return fmt.Sprintf("id-%d", m.number) }
func (m *said) command() bool { return strings.HasPrefix(m.text, "/") }

// manyAtOnce is in how many sessions people talk; from older ones they stay away.
const manyAtOnce = 8

// worker is what people do until the program is killed.
type worker struct {
	sync.WaitGroup
	client http.Client
}

// wait returns when the program's end has reached everybody.
func (w *worker) wait() {
	w.Wait()
	w.client.CloseIdleConnections()
}

// talk writes a few messages in some sessions, and posts them. What was not acknowledged before is posted again,
// or given up.
func (c *conversation) talk(w *worker) {
	if len(c.sessions) < 3 || c.rng.IntN(3) == 0 {
		c.sessions = append(c.sessions, &session{way: ways[c.rng.IntN(len(ways))]})
	}
	for _, s := range c.sessions {
		if s.id != "" && len(s.rest) > 0 && c.rng.IntN(4) == 0 {
			s.rest = s.rest[1:] // its sender has gone, and never learns
		}
	}
	awake := c.sessions[max(0, len(c.sessions)-manyAtOnce):]
	for range 3 + c.rng.IntN(4) {
		c.write(awake[c.rng.IntN(len(awake))])
	}
	w.Go(func() { c.note(posting) })
	for _, s := range c.sessions {
		twice := c.rng.IntN(3) == 0
		w.Go(func() { c.post(w, s, twice) })
	}
}

func (c *conversation) write(s *session) {
	m := &said{number: len(c.all) + 1, session: s}
	switch c.rng.IntN(6) {
	case 0:
		m.text = fmt.Sprintf("/remember crash-%d likes it hot", m.number)
	case 1:
		m.text = fmt.Sprintf("/recall crash-%d", m.number)
	default:
		m.text = fmt.Sprintf("This is crash-%d, %s.", m.number, s.way)
	}
	c.all = append(c.all, m)
	s.rest = append(s.rest, m)
}

// post posts what is left to say in a session, until the program is gone.
func (c *conversation) post(w *worker, s *session, twice bool) {
	for len(s.rest) > 0 {
		m := s.rest[0]
		if !c.send(w, m) || twice && !c.send(w, m) {
			return
		}
		s.rest = s.rest[1:]
	}
}

// send posts a message and reports whether it was acknowledged.
func (c *conversation) send(w *worker, m *said) bool {
	body, _ := json.Marshal(map[string]string{"message": m.text, "id": m.id()}) // a map of strings is always JSON
	opening := m.session.id == ""
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	resp, err := c.call(ctx, &w.client, http.MethodPost, strings.TrimSuffix("/v1/sessions/"+m.session.id, "/"), string(body))
	if err != nil {
		return false // it was killed
	}
	defer resp.Body.Close()
	var answer struct {
		Session string `json:"sessionId"`
	}
	switch resp.StatusCode {
	case http.StatusServiceUnavailable: // it is only just starting, or the room is full
		return false
	case http.StatusAccepted:
	default:
		c.t.Errorf("crash-%d: status %d", m.number, resp.StatusCode)
		return false
	}
	m.accepted = true
	c.note(acknowledged)
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return false // killed between the status and the body
	}
	if opening {
		m.session.id = answer.Session
		w.Go(func() { c.read(w, m.session, m.session.id) })
	}
	return true
}

func (c *conversation) call(ctx context.Context, client *http.Client, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	return client.Do(req)
}

// watch follows the streams of all sessions until the program is gone.
func (c *conversation) watch(w *worker) {
	for _, s := range c.sessions {
		if s.id != "" {
			w.Go(func() { c.read(w, s, s.id) })
		}
	}
}

func (c *conversation) read(w *worker, s *session, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	resp, err := c.call(ctx, &w.client, http.MethodGet, fmt.Sprintf("/v1/sessions/%s/stream?startIndex=%d", id, s.next), "")
	if err != nil {
		return
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		var ev event
		if json.Unmarshal(lines.Bytes(), &ev) == nil && ev.Type != "" {
			s.next = ev.Index + 1
			c.note(ev.Type)
		}
	}
}

// note tells whoever waits for a moment; when nobody does, nobody is told.
func (c *conversation) note(what string) {
	select {
	case c.seen <- what:
	default:
	}
}

// settle posts what is left to say, until everything has come to an end.
func (c *conversation) settle(w *worker) {
	c.t.Helper()
	deadline := time.Now().Add(patience)
	for left := 1; left > 0; {
		left = 0
		for _, s := range c.sessions {
			c.post(w, s, false)
			left += len(s.rest)
		}
		c.before(deadline, "take every message")
	}
	for c.count(`SELECT count(*) FROM inbox WHERE state <> 'done'`) > 0 {
		c.before(deadline, "end every turn")
	}
}

// before waits a little for the next look, and fails when it has become too late.
func (c *conversation) before(deadline time.Time, what string) {
	c.t.Helper()
	if time.Now().After(deadline) {
		c.t.Fatal("the program did not " + what)
	}
	time.Sleep(20 * time.Millisecond)
}
