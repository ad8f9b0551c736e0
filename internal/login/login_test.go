package login

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/secret"
)

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
