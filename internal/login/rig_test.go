package login

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/secret"
	"familiar/internal/sqlite"
)

const theToken = "0123456789abcdef0123456789abcdef"

// rig is a login over a real database, with a clock of its own.
type rig struct {
	*Login
	t    *testing.T
	db   *sqlite.DB
	path string
	now  time.Time
	logs bytes.Buffer
	opts Options
}

func newRig(t *testing.T, change func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, path: filepath.Join(t.TempDir(), "a.db"), now: time.Unix(1_800_000_000, 0)}
	r.opts = Options{Instance: "my-bot", Token: secret.New(theToken), Log: slog.New(slog.NewTextHandler(&r.logs, nil)),
		Now: func() time.Time { return r.now }, Host: "127.0.0.1"}
	if change != nil {
		change(&r.opts)
	}
	r.open()
	t.Cleanup(func() { _ = r.db.Close() })
	return r
}

// open starts the program, or starts it again.
func (r *rig) open() {
	r.t.Helper()
	if r.db != nil {
		_ = r.db.Close()
	}
	var err error
	if r.db, err = sqlite.Open(r.t.Context(), r.path); err != nil {
		r.t.Fatal(err)
	}
	if r.Login, err = Open(r.t.Context(), r.db, r.opts); err != nil {
		r.t.Fatal(err)
	}
}

// asked is a request that is about to be made.
type asked struct {
	method, path, host, bearer, cookie, from string
	headers                                  map[string]string
}

func (r *rig) request(a asked) *http.Request {
	if a.method == "" {
		a.method = "GET"
	}
	if a.path == "" {
		a.path = "/"
	}
	req := httptest.NewRequest(a.method, a.path, nil)
	req.Host = "127.0.0.1:8420"
	if a.host != "" {
		req.Host = a.host
	}
	if a.from != "" {
		req.RemoteAddr = a.from
	}
	if a.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+a.bearer)
	}
	if a.cookie != "" {
		req.Header.Set("Cookie", a.cookie)
	}
	for k, v := range a.headers {
		req.Header.Set(k, v)
	}
	return req
}

// tell answers with how the request was let in.
var tell = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, Via(r.Context())) })

func (r *rig) require(a asked) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.Require(tell).ServeHTTP(w, r.request(a))
	return w
}

func (r *rig) page(a asked) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.Page(tell).ServeHTTP(w, r.request(a))
	return w
}

// enter swaps a link and returns the cookie as a browser sends it, or "".
func (r *rig) enter(link string) string {
	r.t.Helper()
	w := r.page(asked{path: link})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" {
		r.t.Fatalf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	for _, c := range w.Result().Cookies() {
		return c.Name + "=" + c.Value
	}
	return ""
}

func (r *rig) want(w *httptest.ResponseRecorder, status int, body string) {
	r.t.Helper()
	if w.Code != status || !strings.Contains(w.Body.String(), body) {
		r.t.Fatalf("%d %q, want %d %q", w.Code, w.Body, status, body)
	}
	if status >= 400 && !strings.HasPrefix(w.Body.String(), `{"error":"`) {
		r.t.Fatalf("an error that is not the one form: %q", w.Body)
	}
}
