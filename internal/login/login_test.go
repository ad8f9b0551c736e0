package login

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
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

func TestToken(t *testing.T) {
	r := newRig(t, nil)
	r.want(r.require(asked{bearer: theToken}), 200, fmt.Sprint(Bearer))
	r.want(r.require(asked{headers: map[string]string{"Authorization": "bearer  " + theToken}}), 200, fmt.Sprint(Bearer))
	for _, wrong := range []string{"x", theToken[:31], theToken + "0", strings.ToUpper(theToken)} {
		r.want(r.require(asked{bearer: wrong}), 401, "log in")
	}
	r.want(r.require(asked{headers: map[string]string{"Authorization": "Basic " + theToken}}), 401, "")
	r.want(r.require(asked{path: "/?token=" + theToken}), 401, "")
	r.want(r.page(asked{bearer: theToken}), 200, fmt.Sprint(Bearer))
	if _, err := Open(t.Context(), r.db, Options{}); err == nil {
		t.Fatal("opened without a token")
	}
}

// BUG-J04: neither coming from this machine nor saying so is a way in.
func TestLoopbackIsNoWayIn(t *testing.T) {
	r := newRig(t, nil)
	for _, a := range []asked{
		{from: "127.0.0.1:5"}, {from: "[::1]:5"},
		{from: "127.0.0.1:5", headers: map[string]string{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "localhost", "X-Real-IP": "127.0.0.1"}},
	} {
		w := r.require(a)
		r.want(w, 401, "familiar open")
		if w.Header().Get("WWW-Authenticate") != "Bearer" {
			t.Error("it does not say how")
		}
		r.want(r.page(a), 200, fmt.Sprint(None))
	}
	// A proxy cannot choose the name that we were called by.
	r.want(r.require(asked{host: "bad.example", bearer: theToken, headers: map[string]string{"X-Forwarded-Host": "127.0.0.1"}}), 403, "allowedHosts")
}

func TestLinkIsSwappedOnce(t *testing.T) {
	r := newRig(t, nil)
	link := r.Link()
	if again := r.Link(); again == link || len(link) != len("/?login=")+64 {
		t.Fatalf("%q, %q", link, again)
	}
	// Looking at a link does not use it up.
	if w := r.page(asked{method: "HEAD", path: link}); w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 0 {
		t.Fatal("a HEAD got in")
	}
	w := r.page(asked{path: link})
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("%d to %q with %v", w.Code, w.Header().Get("Location"), cookies)
	}
	c := cookies[0]
	if c.Name != "familiar_my-bot" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Path != "/" ||
		c.MaxAge != 30*24*3600 || len(c.Value) != 64 || strings.Contains(link, c.Value) || c.Value == theToken {
		t.Fatalf("%+v", c)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Referrer-Policy") != "no-referrer" {
		t.Fatalf("%v", w.Header())
	}
	cookie := c.Name + "=" + c.Value
	r.want(r.require(asked{cookie: cookie}), 200, fmt.Sprint(PageSession))
	r.want(r.page(asked{cookie: cookie}), 200, fmt.Sprint(PageSession))
	if r.enter(link) != "" {
		t.Fatal("used twice")
	}
	// Somebody who is in and opens a stale link is still in.
	if w := r.page(asked{path: link, cookie: cookie}); w.Code != http.StatusSeeOther || len(w.Result().Cookies()) != 0 {
		t.Fatal("a stale link changed the session")
	}
	r.want(r.require(asked{cookie: "familiar_my-bot=" + strings.Repeat("0", 64)}), 401, "")
	r.want(r.require(asked{cookie: "familiar_other=" + c.Value}), 401, "")
	r.want(r.require(asked{bearer: c.Value}), 401, "")
}

func TestLinkOfTwoAtOnce(t *testing.T) {
	r := newRig(t, nil)
	link := r.Link()
	var wg sync.WaitGroup
	got := make(chan int, 8)
	for range cap(got) {
		wg.Go(func() { got <- len(r.page(asked{path: link}).Result().Cookies()) })
	}
	wg.Wait()
	close(got)
	in := 0
	for n := range got {
		in += n
	}
	if in != 1 {
		t.Fatalf("%d got in", in)
	}
}

func TestLinksEnd(t *testing.T) {
	r := newRig(t, nil)
	link := r.Link()
	r.now = r.now.Add(5 * time.Minute)
	if r.enter(link) != "" {
		t.Fatal("an old link was taken")
	}
	link = r.Link()
	r.now = r.now.Add(5*time.Minute - time.Second)
	if r.enter(link) == "" {
		t.Fatal("a link ended early")
	}
	first := r.Link()
	r.now = r.now.Add(time.Second)
	for range maxLinks {
		r.Link()
	}
	if r.enter(first) != "" || len(r.links.until) > maxLinks {
		t.Fatalf("%d links", len(r.links.until))
	}
	link = r.Link()
	r.open()
	if r.enter(link) != "" {
		t.Fatal("a link outlived the program")
	}
}

// BUG-J01: nothing but the login is taken from a URL, and a redirect leads nowhere else.
func TestURLLeadsNowhereElse(t *testing.T) {
	r := newRig(t, nil)
	link := strings.TrimPrefix(r.Link(), "/")
	for _, path := range []string{"//bad.example/" + link, "/x" + link + "&gatewayUrl=ws://bad.example&next=//bad.example", "/" + link} {
		w := r.page(asked{path: "http://127.0.0.1" + path})
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" {
			t.Errorf("%s: %d to %q", path, w.Code, w.Header().Get("Location"))
		}
	}
}

func TestSessionsOutliveTheProgram(t *testing.T) {
	r := newRig(t, nil)
	cookie := r.enter(r.Link())
	r.open()
	r.want(r.require(asked{cookie: cookie}), 200, fmt.Sprint(PageSession))
	r.now = r.now.Add(30*24*time.Hour - time.Second)
	r.want(r.require(asked{cookie: cookie}), 200, "")
	r.now = r.now.Add(time.Second)
	r.want(r.require(asked{cookie: cookie}), 401, "")
	r.open()
	r.want(r.require(asked{cookie: cookie}), 401, "")
	r.enter(r.Link())
	var rows int
	if err := r.db.Read().QueryRow(`SELECT count(*) FROM login_sessions`).Scan(&rows); err != nil || rows != 1 {
		t.Fatalf("%d rows, %v", rows, err)
	}
}

// A new token ends every session, and the database alone opens nothing.
func TestSessionsBelongToTheToken(t *testing.T) {
	r := newRig(t, nil)
	cookie := r.enter(r.Link())
	_, id, _ := strings.Cut(cookie, "=")
	var kept []byte
	if err := r.db.Read().QueryRow(`SELECT key FROM login_sessions`).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(fmt.Sprintf("%s %x", kept, kept), id) {
		t.Fatal("the id is in the database")
	}
	r.opts.Token = secret.New("another token")
	r.open()
	r.want(r.require(asked{cookie: cookie}), 401, "")
}

func TestSessionsAreBounded(t *testing.T) {
	r := newRig(t, nil)
	first := r.enter(r.Link())
	for range maxSessions {
		r.now = r.now.Add(time.Second)
		r.enter(r.Link())
	}
	r.want(r.require(asked{cookie: first}), 401, "")
	if len(r.sessions.until) != maxSessions {
		t.Fatalf("%d sessions", len(r.sessions.until))
	}
}

func TestDiskThatKeepsNothing(t *testing.T) {
	r := newRig(t, nil)
	link := r.Link()
	_ = r.db.Close()
	w := r.page(asked{path: link})
	r.want(w, 500, "log")
	if len(w.Result().Cookies()) != 0 || !strings.Contains(r.logs.String(), "login") || strings.Contains(r.logs.String(), link[8:]) {
		t.Fatalf("%v, %s", w.Header(), &r.logs)
	}
}

func TestSecureBehindHTTPS(t *testing.T) {
	for url, want := range map[string]bool{"": false, "http://bot.example": false, "https://bot.example/": true, "HTTPS://bot.example": true} {
		r := newRig(t, func(o *Options) { o.PublicBaseURL, o.Instance = url, "a b;c" })
		c := r.page(asked{path: r.Link()}).Result().Cookies()[0]
		if c.Secure != want || c.Name != "familiar_a_b_c" {
			t.Errorf("%q: %+v", url, c)
		}
	}
}

func TestNames(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Host, o.PublicBaseURL, o.AllowedHosts = "192.168.1.5", "https://Bot.example:443/x", []string{"nas", "Box.example:9000"}
	})
	for host, want := range map[string]bool{
		"127.0.0.1:8420": true, "127.0.0.1": true, "localhost:1": true, "LOCALHOST": true, "[::1]:8420": true, "[::1]": true, "127.9.9.9": true,
		"192.168.1.5:8420": true, "bot.example": true, "bot.example:8420": true, "nas": true, "NAS:80": true, "box.example:9000": true,
		"box.example": false, "box.example:9001": false, "192.168.1.6:8420": false, "rebound.example:8420": false, "localhost.bad.example": false,
		"127.0.0.1.bad.example": false, "localhost.": false, "": false, "nas.bad.example": false, "0.0.0.0": false,
	} {
		req := r.request(asked{bearer: theToken})
		req.Host = host
		for name, h := range map[string]http.Handler{"require": r.Require(tell), "page": r.Page(tell)} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if (w.Code == 200) != want || (w.Code == 403) == want {
				t.Errorf("%s, Host %q: %d", name, host, w.Code)
			}
		}
	}
}

// BUG-J01: another page gets nothing, whatever it brings.
func TestForeignPages(t *testing.T) {
	r := newRig(t, func(o *Options) { o.PublicBaseURL, o.AllowedHosts = "https://bot.example", []string{"nas:8420", "box"} })
	cookie := r.enter(r.Link())
	for _, c := range []struct {
		host, origin, site string
		bearer, page       int
	}{
		{"127.0.0.1:8420", "", "", 200, 200},
		{"127.0.0.1:8420", "http://127.0.0.1:8420", "same-origin", 200, 200},
		{"127.0.0.1:8420", "http://127.0.0.1:3000", "same-site", 403, 403},
		{"127.0.0.1:8420", "http://localhost:8420", "cross-site", 403, 403},
		{"127.0.0.1:8420", "https://bad.example", "cross-site", 403, 403},
		{"127.0.0.1:8420", "null", "cross-site", 403, 403},
		{"127.0.0.1:8420", "file://", "", 403, 403},
		{"127.0.0.1:8420", "", "cross-site", 200, 403},
		{"127.0.0.1:8420", "", "same-site", 200, 403},
		{"127.0.0.1:8420", "", "none", 200, 200},
		{"127.0.0.1:8420", "https://bot.example", "same-origin", 200, 200}, // a proxy that changed Host
		{"127.0.0.1:8420", "http://bot.example", "", 403, 403},
		{"127.0.0.1:8420", "http://nas:8420", "", 200, 200},
		{"127.0.0.1:8420", "http://nas:9000", "", 403, 403},
		{"box:80", "http://box", "", 200, 200},
		{"bot.example", "https://bot.example", "", 200, 200},
		{"bot.example:443", "https://bot.example", "", 200, 200},
	} {
		headers := map[string]string{}
		if c.origin != "" {
			headers["Origin"] = c.origin
		}
		if c.site != "" {
			headers["Sec-Fetch-Site"] = c.site
		}
		for _, method := range []string{"GET", "POST", "DELETE"} {
			if w := r.require(asked{method: method, host: c.host, bearer: theToken, headers: headers}); w.Code != c.bearer {
				t.Errorf("%s %+v: bearer %d", method, c, w.Code)
			}
			if w := r.require(asked{method: method, host: c.host, cookie: cookie, headers: headers}); w.Code != c.page {
				t.Errorf("%s %+v: page %d", method, c, w.Code)
			}
		}
		if w := r.page(asked{method: "POST", host: c.host, cookie: cookie, headers: headers}); w.Code != c.page {
			t.Errorf("%+v: page %d", c, w.Code)
		}
	}
}

// A link in somebody's mail leads here from another site; the strict cookie comes at the second look.
func TestComingFromAnotherSite(t *testing.T) {
	r := newRig(t, nil)
	away := map[string]string{"Sec-Fetch-Site": "cross-site"}
	w := r.page(asked{headers: away})
	r.want(w, 200, fmt.Sprint(None))
	if w.Header().Get("Refresh") != "0; url=/?again" {
		t.Fatalf("%q", w.Header().Get("Refresh"))
	}
	if w := r.page(asked{path: "/?again", headers: away}); w.Header().Get("Refresh") != "" {
		t.Fatal("it goes round in circles")
	}
	if w := r.page(asked{}); w.Header().Get("Refresh") != "" {
		t.Fatal("a plain visit is sent round")
	}
}

func TestFailuresAreBounded(t *testing.T) {
	r := newRig(t, func(o *Options) { o.TrustedProxies = []string{"10.0.0.0/8", "::1", "odd"} })
	try := func(from, forwarded string) int {
		h := map[string]string{}
		if forwarded != "" {
			h["X-Forwarded-For"] = forwarded
		}
		return r.require(asked{from: from, bearer: "guess", headers: h}).Code
	}
	for i := range maxFailures {
		// The part that the client wrote itself does not help it.
		if got := try("10.1.1.1:5", fmt.Sprintf("%d.1.1.1, 9.9.9.9, 10.2.2.2", i)); got != 401 {
			t.Fatalf("attempt %d: %d", i, got)
		}
	}
	if got := try("[::1]:7", "9.9.9.9"); got != 429 {
		t.Fatalf("the next one: %d", got)
	}
	for from, forwarded := range map[string]string{"9.9.9.8:1": "9.9.9.9", "10.1.1.1:1": "9.9.9.7", "10.1.1.2:1": "nonsense"} {
		if got := try(from, forwarded); got != 401 {
			t.Errorf("%s for %q: %d", from, forwarded, got)
		}
	}
	if w := r.page(asked{from: "9.9.9.9:1", path: "/?login=guess"}); w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("a guessed link: %d", w.Code)
	}
	if n := strings.Count(r.logs.String(), "many failed logins"); n != 1 || strings.Contains(r.logs.String(), "guess") {
		t.Errorf("%d lines: %s", n, &r.logs)
	}
	// The right secret is never held up, and asking without any is no attempt.
	r.want(r.require(asked{from: "9.9.9.9:1", bearer: theToken}), 200, "")
	r.want(r.require(asked{from: "9.9.9.9:1"}), 401, "")
	r.now = r.now.Add(failWindow)
	if got := try("9.9.9.9:1", ""); got != 401 {
		t.Errorf("a minute later: %d", got)
	}
	for i := range 2 * maxAddresses {
		try(fmt.Sprintf("8.%d.%d.1:1", i/256, i%256), "")
	}
	if len(r.failures.count) > maxAddresses {
		t.Fatalf("%d addresses are remembered", len(r.failures.count))
	}
}

func FuzzHosts(f *testing.F) {
	for _, host := range []string{"", "localhost", "[::1]:80", "::1", "a:b:c", "[", "]:", "127.0.0.1:x", "bot.example:443", "%31"} {
		f.Add(host, "http://"+host)
	}
	n := newNames(Options{Host: "127.0.0.1", PublicBaseURL: "https://bot.example"})
	f.Fuzz(func(t *testing.T, host, header string) {
		if n.knows(host) && strings.HasSuffix(host, "bad.example") {
			t.Fatalf("%q is taken for ours", host)
		}
		if n.ours(header, "127.0.0.1:8420") && !strings.Contains(header, "127.0.0.1") && !strings.Contains(strings.ToLower(header), "bot.example") {
			t.Fatalf("%q is taken for our page", header)
		}
	})
}
