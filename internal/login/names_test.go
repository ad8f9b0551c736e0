package login

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

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
