package misskey

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/misskeytest"
	"familiar/internal/secret"
)

const badGateway = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

// What becomes of answers that are no success: tried again, not tried again, never, or nobody knows.
func TestFaultsOfAMessage(t *testing.T) {
	const later, unsure, never, fatal = "later", "unsure", "never", "fatal"
	for _, c := range []struct {
		name  string
		plan  misskeytest.Misbehaviour
		kind  string
		after time.Duration
		says  string
	}{
		{"AF-61 a page of HTML", misskeytest.Misbehaviour{Status: 502, Body: badGateway}, later, 0, "notes/create: HTTP 502: 502 Bad Gateway"},
		{"away", misskeytest.Misbehaviour{Status: 503, Header: http.Header{"Retry-After": {"7"}}}, later, 7 * time.Second, "HTTP 503"},
		{"too often", misskeytest.Misbehaviour{Status: 429, Header: http.Header{"Retry-After": {"9"}}, Body: `{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"m","id":"i"}}`}, later, 9 * time.Second, "RATE_LIMIT_EXCEEDED"},
		{"BUG-K01 too often, and not said for how long", misskeytest.Refusal(429, "RATE_LIMIT_EXCEEDED"), later, 5 * time.Second, "RATE_LIMIT_EXCEEDED"},
		{"too often, behind a wall", misskeytest.Misbehaviour{Status: 429, Body: "<html>slow down"}, later, 5 * time.Second, "slow down"},
		{"an error within", misskeytest.Misbehaviour{Status: 500, Body: "{}"}, unsure, 0, "HTTP 500"},
		{"a wall that gave up", misskeytest.Misbehaviour{Status: 504, Body: "<title>504</title>"}, unsure, 0, "HTTP 504: 504"},
		{"no answer", misskeytest.Misbehaviour{Break: true}, unsure, 0, "EOF"},
		{"a yes that is HTML", misskeytest.Misbehaviour{Status: 200, Body: "<html><body>welcome</body>"}, unsure, 0, "welcome"},
		{"a yes that names nothing", misskeytest.Misbehaviour{Status: 200, Body: `{"createdNote":{}}`}, unsure, 0, "names nothing"},
		{"a yes without words", misskeytest.Misbehaviour{Status: 204}, unsure, 0, "names nothing"},
		{"a yes without end", misskeytest.Misbehaviour{Status: 200, Body: strings.Repeat("x", 4<<20+2)}, unsure, 0, "longer than"},
		{"refused", misskeytest.Refusal(400, "NO_SUCH_REPLY_TARGET"), never, 0, "NO_SUCH_REPLY_TARGET"},
		{"BUG-B16 refused for the one who is answered", misskeytest.Refusal(400, "YOU_HAVE_BEEN_BLOCKED"), never, 0, "YOU_HAVE_BEEN_BLOCKED"},
		{"no chat with us", denial("recipient is cannot chat (followers)"), never, 0, "recipient is cannot chat"},
		{"an error of its own", denial("oops"), unsure, 0, "INTERNAL_ERROR"},
		{"a permission", misskeytest.Refusal(403, "PERMISSION_DENIED"), never, 0, "the access token lacks a permission"},
		{"moved", misskeytest.Misbehaviour{Status: 301, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}}, never, 0, "set platforms.misskey.host"},
		{"revoked", misskeytest.Refusal(403, "AUTHENTICATION_FAILED"), fatal, 0, "make a new one"},
		{"revoked, of old", misskeytest.Refusal(401, "CREDENTIAL_REQUIRED"), fatal, 0, "make a new access token"},
		{"no entry", misskeytest.Misbehaviour{Status: 401}, fatal, 0, "make a new access token"},
		{"suspended", misskeytest.Refusal(403, "YOUR_ACCOUNT_SUSPENDED"), fatal, 0, "the account is suspended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			if err := r.meet(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer r.api.CloseIdle()
			r.Misbehave("notes/create", c.plan)
			_, err := r.Do(t.Context(), chat.Say{Place: directPlace(dmPlace, r.ann.ID), Text: "hello"})
			var f platform.Fatal
			var l platform.Temporary
			got := never
			switch {
			case errors.As(err, &f):
				got = fatal
			case errors.As(err, &l):
				got = later
			case unsettled(err):
				got = unsure
			}
			if err == nil || got != c.kind || l.After != c.after || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s after %v: %v", got, l.After, err)
			}
			if err != nil && (strings.ContainsAny(err.Error(), "<>\r\n") || strings.Contains(err.Error(), misskeytest.Token)) {
				t.Errorf("this is not to be read: %q", err)
			}
		})
	}
}

// What only reads or takes away can be asked for again whatever happened.
func TestFaultsOfWhatCanBeRepeated(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "@familiar hello"})
	for _, plan := range []misskeytest.Misbehaviour{{Status: 500}, {Break: true}, {Status: 502, Body: badGateway}, {Status: 200, Body: "<html>"}} {
		r.Misbehave("notes/reactions/create", plan)
		if _, err := r.Do(t.Context(), chat.React{Place: ev.Place, Message: ev.Message, Emoji: "👍"}); !temporary(err) {
			t.Errorf("%+v: %v", plan, err)
		}
		r.Misbehave("notes/show", plan)
		if _, err := r.Do(t.Context(), chat.Say{Place: ev.Place, Text: "x", ReplyTo: ev.Message}); !temporary(err) {
			t.Errorf("%+v: %v", plan, err)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	cfg := Defaults()
	server := httptest.NewServer(http.NotFoundHandler())
	cfg.Host, cfg.Secure, cfg.Token = strings.TrimPrefix(server.URL, "http://"), false, secret.New("token")
	m := New(cfg, Deps{})
	defer m.api.CloseIdle()
	if err := m.meet(t.Context()); err == nil || !strings.Contains(err.Error(), "HTTP 404") {
		t.Errorf("got %v", err)
	}
	server.Close()
	m.api.CloseIdle() // a connection that was closed on the other side may have taken something
	if _, err := m.Do(t.Context(), chat.Say{Place: directPlace(chatPlace, "a1"), Text: "x"}); !temporary(err) {
		t.Errorf("nobody was there: %v", err)
	}
}
