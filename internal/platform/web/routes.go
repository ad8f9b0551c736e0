package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"familiar/internal/answer"
)

// maxBody is the largest body of a request, in bytes.
const maxBody = 1 << 20

// bodyTime is how long a client may take to send its body.
const bodyTime = 30 * time.Second

// Routes adds the routes under /v1/sessions to mux. Every answer that is no stream is JSON.
func (w *Web) Routes(mux *http.ServeMux) {
	mux.Handle("/v1/sessions", methods{"GET": w.list, "POST": w.open})
	mux.Handle("/v1/sessions/{session}", methods{"POST": w.proceed})
	mux.Handle("/v1/sessions/{session}/cancel", methods{"POST": w.cancel})
	mux.Handle("/v1/sessions/{session}/stream", methods{"GET": w.stream})
	mux.Handle("/v1/sessions/{session}/files/{message}/{number}", methods{"GET": w.file})
	mux.HandleFunc("/v1/sessions/", func(rw http.ResponseWriter, _ *http.Request) {
		refuse(rw, fault{status: http.StatusNotFound, say: "there is nothing here"})
	})
}

// methods answers 405 as JSON for what it does not hold.
type methods map[string]http.HandlerFunc

func (m methods) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if serve, ok := m[r.Method]; ok {
		serve(rw, r)
		return
	}
	var allowed []string
	for _, method := range []string{"GET", "POST"} {
		if _, ok := m[method]; ok {
			allowed = append(allowed, method)
		}
	}
	rw.Header().Set("Allow", strings.Join(allowed, ", "))
	refuse(rw, fault{status: http.StatusMethodNotAllowed, say: "use " + strings.Join(allowed, " or ")})
}

// fault is a refusal with its HTTP status.
type fault struct {
	status int
	say    string
	first  int64 // of a 410: the lowest index that is kept
}

func (f fault) Error() string { return f.say }

func bad(format string, args ...any) fault {
	return fault{status: http.StatusBadRequest, say: fmt.Sprintf(format, args...)}
}

var (
	errUnknown = fault{status: http.StatusNotFound, say: "there is no such session"}
	errBusy    = fault{status: http.StatusServiceUnavailable, say: "not now; nothing was stored, send it again later"}
)

type refusal struct {
	Error string `json:"error"`
	First *int64 `json:"firstIndex,omitempty"`
}

// refuse writes a refusal. An error that is no fault is ours: the client learns no more than that.
func refuse(rw http.ResponseWriter, err error) {
	var f fault
	if !errors.As(err, &f) {
		f = fault{status: http.StatusInternalServerError, say: "something went wrong here"}
	}
	body := refusal{Error: f.say}
	switch f.status {
	case http.StatusGone:
		body.First = &f.first
	case http.StatusServiceUnavailable:
		rw.Header().Set("Retry-After", "5")
	}
	answer.JSON(rw, f.status, body)
}

// decode reads a bounded JSON object into a B. A fault says what is wrong with it.
func decode[B any](rw http.ResponseWriter, r *http.Request) (body B, err error) {
	if r.ContentLength > maxBody {
		return body, explain(&http.MaxBytesError{Limit: maxBody}) // not a byte of it needs to be waited for
	}
	control := http.NewResponseController(rw)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // where it cannot be set, the server's own limit holds
	defer func() {
		// The server reads what is left of a refused body, and must not wait for it longer than we did.
		if err == nil {
			_ = control.SetReadDeadline(time.Time{})
		}
	}()
	dec := json.NewDecoder(http.MaxBytesReader(rw, r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil {
		return body, explain(err)
	}
	var large *http.MaxBytesError
	switch _, err := dec.Token(); {
	case errors.Is(err, io.EOF):
		return body, nil
	case errors.As(err, &large):
		return body, explain(err)
	}
	return body, bad("there is something after the JSON object")
}

// explain turns an error of the JSON decoder into words for the caller.
func explain(err error) error {
	var large *http.MaxBytesError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &large):
		return fault{status: http.StatusRequestEntityTooLarge, say: fmt.Sprintf("the body is larger than %d bytes", maxBody)}
	case errors.As(err, &kind) && kind.Field != "":
		return bad("%s cannot be a %s", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return bad("the body must be a JSON object, not a %s", kind.Value)
	case errors.Is(err, io.EOF):
		return bad("the body is empty; send a JSON object")
	}
	return bad("the body is not what is expected: %s", strings.TrimPrefix(err.Error(), "json: "))
}
