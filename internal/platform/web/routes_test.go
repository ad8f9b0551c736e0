package web

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// timed is an answer whose connection remembers until when it may be read.
type timed struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (c *timed) SetReadDeadline(t time.Time) error {
	c.until = t
	return nil
}

// stalled is a body whose client stops in the middle until its time is over.
type stalled struct{ io.Reader }

func (s stalled) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); err == nil {
		return n, nil
	}
	return 0, errors.New("i/o timeout")
}

// What is left of a refused body is read by the server after the answer: a client that stopped in the middle must
// not hold its connection for ever.
func TestTheTimeOfARefusedBodyStaysBounded(t *testing.T) {
	conn := &timed{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest(http.MethodPost, "/v1/sessions", stalled{strings.NewReader(`{"mess`)})
	if _, err := decode[opening](conn, r); err == nil {
		t.Fatal("half a body was taken")
	}
	if conn.until.IsZero() {
		t.Error("the connection may be read without end")
	}
	r = httptest.NewRequest(http.MethodPost, "/v1/sessions", strings.NewReader(`{"message":"a"}`))
	if _, err := decode[opening](conn, r); err != nil || !conn.until.IsZero() {
		t.Errorf("after a whole body: %v, until %v", err, conn.until)
	}
}

// BUG-K09: a body that says that it is too large is refused before any of it came.
func TestATooLargeBodyIsNotWaitedFor(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/v1/sessions", stalled{strings.NewReader(`{}`)})
	r.ContentLength = maxBody + 1
	_, err := decode[opening](httptest.NewRecorder(), r)
	var f fault
	if !errors.As(err, &f) || f.status != http.StatusRequestEntityTooLarge {
		t.Errorf("got %v", err)
	}
}
