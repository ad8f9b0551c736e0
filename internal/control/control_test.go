package control

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"familiar/internal/secret"
)

// What somebody gives as a session names one, and never another route.
func TestASessionIsOnePieceOfThePath(t *testing.T) {
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.EscapedPath()
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	c := New(server.URL+"/", secret.New("token"))
	for session, want := range map[string]string{
		"s_1":        "/v1/sessions/s_1",
		"../../x":    "/v1/sessions/..%2F..%2Fx",
		"a?b#c d":    "/v1/sessions/a%3Fb%23c%20d",
		"s_1/cancel": "/v1/sessions/s_1%2Fcancel",
	} {
		if _, err := c.Post(t.Context(), session, "id", "text"); err != nil || asked != want {
			t.Errorf("%q asks for %s (%v), want %s", session, asked, err, want)
		}
		if err := c.Cancel(t.Context(), session); err != nil || asked != want+"/cancel" {
			t.Errorf("%q asks for %s (%v), want %s/cancel", session, asked, err, want)
		}
	}
}
