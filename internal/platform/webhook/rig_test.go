package webhook

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"familiar/internal/chat"
	"familiar/internal/platform/platformtest"
	"familiar/internal/secret"
	"familiar/internal/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testSecret = "s3cret of some length"

// far is the other side: it verifies, remembers and answers as it is told.
type far struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	got     []letter
	keys    []string
	headers []http.Header
	answer  func(n int, l letter) (status int, header http.Header) // n counts from 1; nil takes everything
}

func newFar(t *testing.T) *far {
	f := &far{t: t}
	f.Server = httptest.NewServer(http.HandlerFunc(f.take))
	return f
}

func (f *far) take(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c, ok := claimOf(r.Header, time.Now())
	if err != nil || !ok || !c.holds([]byte(testSecret), body) {
		f.t.Errorf("a reply came without a good signature: %v %v", r.Header, err)
	}
	var l letter
	if err := json.Unmarshal(body, &l); err != nil {
		f.t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got, f.keys, f.headers = append(f.got, l), append(f.keys, r.Header.Get(headerKey)), append(f.headers, r.Header)
	if f.answer == nil {
		rw.WriteHeader(http.StatusNoContent)
		return
	}
	status, header := f.answer(len(f.got), l)
	for name := range header {
		rw.Header().Set(name, header.Get(name))
	}
	rw.WriteHeader(status)
}

// letters is what came so far.
func (f *far) letters() []letter {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got)
}

// shown is what people can read now of everything that came.
func (f *far) shown() (texts []string) {
	var ids []chat.MessageID
	for _, l := range f.letters() {
		switch at := slices.Index(ids, l.MessageID); l.Type {
		case typeMessage:
			ids, texts = append(ids, l.MessageID), append(texts, l.Text)
		case typeEdit:
			texts[at] = l.Text
		case typeDelete:
			ids, texts = slices.Delete(ids, at, at+1), slices.Delete(texts, at, at+1)
		}
	}
	return texts
}

// live is a platform that delivers.
type live struct {
	*Webhook
	db  *sqlite.DB
	end func() // ends Deliver and waits for it
}

func config(url string, actions ...string) Config {
	cfg := Defaults()
	cfg.Enabled, cfg.Secret, cfg.ReplyURL, cfg.Actions, cfg.RetryMs = true, secret.New(testSecret), url, actions, 1
	return cfg
}

// still opens a platform that delivers nothing by itself.
func still(t testing.TB, path string, cfg Config) *live {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(t.Context(), db, cfg, Deps{Log: slog.New(slog.DiscardHandler),
		Author: func(_ context.Context, _ chat.Place, id chat.MessageID) string { return "author of " + string(id) }})
	if err != nil {
		t.Fatal(err)
	}
	l := &live{Webhook: w, db: db}
	l.end = sync.OnceFunc(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { l.end() })
	return l
}

func open(t *testing.T, path string, cfg Config) *live {
	t.Helper()
	l := still(t, path, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	ended, shut := make(chan error, 1), l.end
	go func() { ended <- l.Deliver(ctx) }()
	l.end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		shut()
	})
	return l
}

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "familiar.db") }

// until waits for a condition; what it waits for is said when it never holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func (l *live) stand(t *testing.T) Stand {
	t.Helper()
	s, err := l.Stand(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (l *live) drained(t *testing.T) {
	t.Helper()
	until(t, "nothing waits to be sent", func() bool { return l.stand(t).Queued == 0 })
}

// signed makes a request as a sender does.
func signed(body string, at time.Time) *http.Request {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	r := httptest.NewRequest(http.MethodPost, Path, bytes.NewBufferString(body))
	r.Header.Set(headerTime, timestamp)
	r.Header.Set(headerSignature, hex.EncodeToString(sign([]byte(testSecret), timestamp, []byte(body))))
	return r
}

// answers lets the platform answer a request.
func answers(w *Webhook, r *http.Request) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	w.Routes(mux)
	rw := httptest.NewRecorder()
	mux.ServeHTTP(rw, r)
	return rw
}

func network(t *testing.T, actions ...string) platformtest.Network {
	f := newFar(t)
	l := open(t, file(t), config(f.URL, actions...))
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	return platformtest.Network{
		Platform: l.Webhook,
		Deliver: func(t *testing.T, source, text string) {
			body := fmt.Sprintf(`{"chatId":"c1","userId":"u1","messageId":%q,"text":%q}`, source, text)
			if rw := answers(l.Webhook, signed(body, time.Now())); rw.Code != http.StatusAccepted {
				t.Errorf("%s: %d %s", body, rw.Code, rw.Body)
			}
		},
		Posted: func(t *testing.T) []string {
			l.drained(t)
			return f.shown()
		},
		File:  chat.File{Path: path, Name: "a.txt", MIME: "text/plain"},
		Close: func() { l.end(); f.Close() },
	}
}

func TestContract(t *testing.T) {
	platformtest.Run(t, platformtest.Rig{New: func(t *testing.T) platformtest.Network {
		return network(t, doEdit, doDelete, doReact, doFiles, doAsk)
	}})
}

func TestContractOfMessagesAlone(t *testing.T) {
	platformtest.Run(t, platformtest.Rig{New: func(t *testing.T) platformtest.Network { return network(t) }})
}
