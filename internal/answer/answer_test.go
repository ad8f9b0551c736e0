package answer

import (
	"net/http/httptest"
	"testing"
)

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		write  func(*httptest.ResponseRecorder)
		status int
		body   string
	}{
		"a value":             {func(w *httptest.ResponseRecorder) { JSON(w, 202, []string{"a<b"}) }, 202, "[\"a\\u003cb\"]\n"},
		"a refusal":           {func(w *httptest.ResponseRecorder) { Fail(w, 404, `no "x"`) }, 404, "{\"error\":\"no \\\"x\\\"\"}\n"},
		"what cannot be JSON": {func(w *httptest.ResponseRecorder) { JSON(w, 200, func() {}) }, 500, "{\"error\":\"something went wrong here\"}\n"},
	} {
		w := httptest.NewRecorder()
		c.write(w)
		if w.Code != c.status || w.Body.String() != c.body || w.Header().Get("Cache-Control") != "no-store" ||
			w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s: %d %q %v", name, w.Code, w.Body, w.Header())
		}
	}
}
