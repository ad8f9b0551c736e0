package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/chat"
	"familiar/internal/platform/platformtest"
	"familiar/internal/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a running platform with its routes on a real listener.
type site struct {
	*Web
	t       *testing.T
	db      *sqlite.DB
	url     string
	closing chan struct{}
	close   func()

	mu     sync.Mutex
	hears  func(ctx context.Context, ev chat.Event) chat.Outcome
	events []chat.Event
	page   bool
	turn   bool
}

func openDB(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// serve starts a site on the database at path.
func serve(t *testing.T, path string) *site {
	t.Helper()
	s := &site{t: t, db: openDB(t, path), closing: make(chan struct{})}
	s.Web = newWeb(t, s.db, Deps{Log: slog.New(slog.DiscardHandler), Closing: s.closing,
		Stop:    func(context.Context, chat.Place) bool { return s.turn },
		ViaPage: func(*http.Request) bool { return s.page }})
	mux := http.NewServeMux()
	s.Routes(mux)
	server := httptest.NewServer(mux)
	s.url = server.URL
	ctx, cancel := context.WithCancel(t.Context())
	ended, up := make(chan error, 1), make(chan struct{})
	go func() { ended <- s.Run(ctx, s.hear, func() { close(up) }) }()
	<-up
	s.close = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		close(s.closing)
		server.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := s.db.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.close)
	return s
}

func newWeb(t *testing.T, db *sqlite.DB, deps Deps) *Web {
	t.Helper()
	w, err := New(t.Context(), db, Defaults(), deps)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func fresh(t *testing.T) *site { return serve(t, filepath.Join(t.TempDir(), "web.db")) }

func (s *site) hear(ctx context.Context, ev chat.Event) chat.Outcome {
	s.mu.Lock()
	hears := s.hears
	s.events = append(s.events, ev)
	s.mu.Unlock()
	if hears != nil {
		return hears(ctx, ev)
	}
	return chat.Accepted
}

func (s *site) heard() []chat.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]chat.Event(nil), s.events...)
}

// send makes a request and returns the status and the body.
func (s *site) send(method, path, body string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, strings.TrimSpace(string(data))
}

func (s *site) want(status int, method, path, body string) string {
	s.t.Helper()
	got, answer := s.send(method, path, body)
	if got != status {
		s.t.Errorf("%s %s %.60s: %d %s, want %d", method, path, body, got, answer, status)
	}
	if status >= 400 && !strings.HasPrefix(answer, `{"error":"`) {
		s.t.Errorf("%s %s: %q is no JSON error", method, path, answer)
	}
	return answer
}

// begin opens a session and returns its id.
func (s *site) begin(text string) string {
	s.t.Helper()
	var a accepted
	if err := json.Unmarshal([]byte(s.want(202, "POST", "/v1/sessions", asJSON(s.t, opening{Message: text}))), &a); err != nil {
		s.t.Fatal(err)
	}
	return a.Session
}

func asJSON[V any](t *testing.T, v V) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (s *site) do(a chat.Action) chat.Receipt {
	s.t.Helper()
	receipt, err := s.Do(s.t.Context(), a)
	if err != nil {
		s.t.Fatal(err)
	}
	return receipt
}

// listener reads a stream.
type listener struct {
	t     *testing.T
	lines *bufio.Scanner
	close func()
}

func (s *site) listen(session, query string) *listener {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+"/v1/sessions/"+session+"/stream"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/x-ndjson") {
		s.t.Fatalf("stream: %s, %s", res.Status, res.Header.Get("Content-Type"))
	}
	l := &listener{s.t, bufio.NewScanner(res.Body), sync.OnceFunc(func() { cancel(); _ = res.Body.Close() })}
	l.lines.Buffer(nil, 1<<20)
	s.t.Cleanup(l.close)
	return l
}

// next returns the next line, or ok false when the stream has ended.
func (l *listener) next() (got line, ok bool) {
	l.t.Helper()
	for l.lines.Scan() {
		if l.lines.Text() == "" {
			continue
		}
		if err := json.Unmarshal(l.lines.Bytes(), &got); err != nil {
			l.t.Fatalf("line %q: %v", l.lines.Text(), err)
		}
		if got.At.IsZero() {
			l.t.Errorf("line %q has no time", l.lines.Text())
		}
		return got, true
	}
	return line{}, false
}

// expect reads as many lines as are given: "index type", with words that the data must hold behind.
func (l *listener) expect(want ...string) {
	l.t.Helper()
	for _, w := range want {
		got, ok := l.next()
		if !ok {
			l.t.Fatalf("the stream ended before %q", w)
		}
		head, data, _ := strings.Cut(w, " {")
		if fmt.Sprintf("%d %s", got.Index, got.Type) != head || !strings.Contains(string(got.Data), strings.TrimSuffix(data, "}")) {
			l.t.Fatalf("got %d %s %s, want %s", got.Index, got.Type, got.Data, w)
		}
	}
}

func TestContract(t *testing.T) {
	platformtest.Run(t, platformtest.Rig{New: func(t *testing.T) platformtest.Network {
		db := openDB(t, filepath.Join(t.TempDir(), "web.db"))
		w := newWeb(t, db, Deps{Log: slog.New(slog.DiscardHandler)})
		mux := http.NewServeMux()
		w.Routes(mux)
		session := ""
		document := filepath.Join(t.TempDir(), "document")
		if err := os.WriteFile(document, []byte("words"), 0o600); err != nil {
			t.Fatal(err)
		}
		return platformtest.Network{Platform: w,
			File: chat.File{Path: document, Name: "document.txt", MIME: "text/plain"},
			Deliver: func(t *testing.T, source, text string) {
				if session == "" { // one place: the first message opens it, and comes again on the same way
					session = "s_" + hash("session", source)
				}
				path := "/v1/sessions"
				if session != "s_"+hash("session", source) {
					path += "/" + session
				}
				body := struct {
					Message string `json:"message"`
					ID      string `json:"id"`
				}{text, source}
				rec := httptest.NewRecorder()
				mux.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader(asJSON(t, body))))
				if rec.Code != 202 {
					t.Fatalf("POST %s: %d %s", path, rec.Code, rec.Body)
				}
			},
			Posted: func(t *testing.T) []string { return readable(t, w, session) },
			Close: func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			},
		}
	}})
}

// readable replays a session as a page would and returns our texts that are left.
func readable(t *testing.T, w *Web, session string) (texts []string) {
	t.Helper()
	lines, err := w.lines(t.Context(), session, 0, 1<<40, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var order []chat.MessageID
	by := map[chat.MessageID]string{}
	for _, l := range lines {
		var m worded
		if err := json.Unmarshal(l.Data, &m); err != nil {
			t.Fatal(err)
		}
		switch l.Type {
		case messageDone:
			order = append(order, m.Message)
			by[m.Message] = m.Text
		case messageUpdated:
			by[m.Message] = m.Text
		case messageDeleted:
			delete(by, m.Message)
		}
	}
	for _, id := range order {
		if text, ok := by[id]; ok {
			texts = append(texts, text)
		}
	}
	return texts
}
