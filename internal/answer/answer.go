// Package answer is the one form in which this program answers HTTP requests with JSON: never cached, never guessed
// to be something else, and an error always as {"error": "…"}.
package answer

import (
	"encoding/json"
	"net/http"
)

// JSON writes a value with a status. A value that cannot be JSON is a fault of ours and becomes a 500.
func JSON[V any](w http.ResponseWriter, status int, value V) {
	data, err := json.Marshal(value)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":"something went wrong here"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // the client left: nobody is there to be told
}

// Fail writes a refusal. say is for whoever asked: it holds nothing that they may not know.
func Fail(w http.ResponseWriter, status int, say string) {
	JSON(w, status, struct {
		Error string `json:"error"`
	}{say})
}
