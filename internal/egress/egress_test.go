package egress

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server and returns its address.
func serve(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// client is one whose operator named these addresses.
func client(named ...string) *Client {
	o := Options{Timeout: 10 * time.Second, MaxBytes: 1000, UserAgent: "Familiar-Test/1"}
	for _, address := range named {
		o.Hosts = append(o.Hosts, Host(address))
	}
	return New(o)
}

func read(t *testing.T, c *Client, address string) (string, error) {
	t.Helper()
	answer, err := c.Get(t.Context(), address)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func TestAnAddressThatTheOperatorNamed(t *testing.T) {
	var agent, referer string
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		agent, referer = r.UserAgent(), r.Referer()
		if r.URL.Path == "/from" {
			http.Redirect(w, r, "/to", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "Text/HTML; charset=utf-8")
		_, _ = io.WriteString(w, "hello")
	})
	answer, err := client(at).Get(t.Context(), at+"/from")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || string(text) != "hello" || answer.Type != "text/html" || answer.Charset != "utf-8" || answer.Address != at+"/to" || agent != "Familiar-Test/1" || referer != "" {
		t.Fatalf("%q of type %q, asked as %q from %q: %v", text, answer.Type, agent, referer, err)
	}
}

func TestNobodyIsLedInside(t *testing.T) {
	inside := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the inside was asked") })
	outside := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inside, http.StatusFound) })
	c := client(outside)
	port := inside[strings.LastIndex(inside, ":"):]
	for _, address := range []string{inside, outside, "http://localhost" + port, "http://[::1]" + port, "http://0.0.0.0" + port,
		"http://[::ffff:127.0.0.1]" + port, "http://2130706433" + port, "file:///etc/passwd", "http://", "gopher://example.org",
		"http://user:secret@127.0.0.1" + port, "http://127.0.0.1:99999"} {
		if text, err := read(t, c, address); err == nil {
			t.Errorf("%s gave %q", address, text)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells: %v", err)
		}
	}
	if _, err := read(t, c, inside); !errors.Is(err, ErrForbidden) {
		t.Error(err)
	}
	if _, err := read(t, c, outside); !errors.Is(err, ErrForbidden) {
		t.Error("by a redirect:", err)
	}
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "2606:4700:4700::1111": true, "100.63.255.255": true, "::ffff:1.1.1.1": true,
		"127.0.0.1": false, "127.8.8.8": false, "10.1.2.3": false, "172.31.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "0.0.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"::1": false, "::": false, "fe80::1": false, "fe80::1%eth0": false, "fd00::1": false, "fc00::1": false, "ff02::1": false,
		"::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::7f00:1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestHost(t *testing.T) {
	for address, want := range map[string]string{"https://Example.org/feed": "Example.org", "http://nas:8080/x": "nas:8080",
		"http://nas:80/": "nas", "http://[::1]:81/": "[::1]:81", "http://[::1]/": "::1", "nothing": "", ":": ""} {
		if got := Host(address); got != want {
			t.Errorf("%s: %q", address, got)
		}
	}
	c := New(Options{Hosts: []string{"example.org", "::1", "nas:8080"}})
	for address, want := range map[string]bool{"EXAMPLE.org:443": true, "example.org:80": true, "example.org:8443": false,
		"[::1]:443": true, "nas:8080": true, "nas:443": false, "sub.example.org:443": false, "rubbish": false} {
		if got := c.named(address); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestWhatIsTooLarge(t *testing.T) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write(make([]byte, 1<<20))
	_ = zip.Close()
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/fits":
			_, _ = w.Write(make([]byte, 1000))
		case "/declared":
			w.Header().Set("Content-Length", "1001")
			_, _ = w.Write(make([]byte, 1001))
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		}
	})
	if text, err := read(t, client(at), at+"/fits"); err != nil || len(text) != 1000 {
		t.Error(len(text), err)
	}
	for _, path := range []string{"/declared", "/packed", "/endless"} {
		if text, err := read(t, client(at), at+path); !errors.Is(err, ErrTooLarge) || len(text) > 1000 {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
}

func TestErrors(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/round" {
			http.Redirect(w, r, "/round", http.StatusFound)
			return
		}
		w.WriteHeader(http.StatusBadGateway)
	})
	for _, path := range []string{"/round", "/502"} {
		if _, err := read(t, client(at), at+path); err == nil || strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A server that says nothing, and one that stops in the middle, end with the time.
func TestASilentServer(t *testing.T) {
	hold := make(chan struct{})
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/middle" {
			_, _ = w.Write([]byte("half"))
			w.(http.Flusher).Flush()
		}
		select {
		case <-hold:
		case <-r.Context().Done():
		}
	})
	defer close(hold)
	c := client(at)
	c.Timeout = 50 * time.Millisecond
	for _, path := range []string{"/", "/middle"} {
		if _, err := read(t, c, at+path); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
