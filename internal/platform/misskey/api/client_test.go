package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"familiar/internal/platform"
	"familiar/internal/platform/misskey/misskeytest"
	"familiar/internal/secret"
)

type noteID struct {
	NoteID string `json:"noteId"`
}

// What is asked with parameters and without is answered, and what has no answer is zero.
func TestACall(t *testing.T) {
	c, in := client(t)
	me, err := Call[struct{ ID, Username string }](t.Context(), c, "i", Nothing{})
	if err != nil || me.ID != in.Me().ID || me.Username != "familiar" {
		t.Errorf("%+v, %v", me, err)
	}
	n := in.Write(in.Me(), misskeytest.Draft{Text: "hello"})
	said, err := Call[struct{ ID, Text string }](t.Context(), c, "notes/show", noteID{n.ID})
	if err != nil || said.ID != n.ID || said.Text != "hello" {
		t.Errorf("%+v, %v", said, err)
	}
	if gone, err := Call[noteID](t.Context(), c, "notes/delete", noteID{n.ID}); err != nil || gone != (noteID{}) || len(in.Notes()) != 0 {
		t.Errorf("%+v, %v", gone, err)
	}
	if _, err := Call[noteID](t.Context(), c, "notes/show", noteID{n.ID}); !Is(err, "OTHER", "NO_SUCH_NOTE") || Is(err, "OTHER") || Revoked(err) {
		t.Errorf("got %v", err)
	}
}

// A call that is broken off may have arrived; one that ended before it began has not.
func TestACallThatIsBrokenOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // only then it is noticed that nobody waits any more
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	c := New(server.URL, secret.New("hush"))
	defer c.CloseIdle()
	_, err := Call[Nothing](ctx, c, "i", Nothing{})
	var unsure platform.Uncertain
	if !errors.Is(err, context.Canceled) || !errors.As(Judge(err, true), &unsure) {
		t.Errorf("got %v", err)
	}
	_, err = Call[Nothing](ctx, c, "i", Nothing{})
	var later platform.Temporary
	if !errors.Is(err, context.Canceled) || !errors.As(Judge(err, true), &later) {
		t.Errorf("got %v", err)
	}
}

// The token goes to no other host, whatever the instance says.
func TestARedirectIsNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other host was asked") }))
	defer other.Close()
	c, in := client(t)
	for _, status := range []int{301, 302, 307, 308} {
		in.Misbehave("i", misskeytest.Misbehaviour{Status: status, Header: http.Header{"Location": {other.URL + "/api/i"}}})
		if _, err := Call[Nothing](t.Context(), c, "i", Nothing{}); err == nil || !strings.Contains(err.Error(), "redirects are not followed") {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestAnUpload(t *testing.T) {
	c, in := client(t)
	id, err := c.Upload(t.Context(), "cat.png", strings.NewReader("png"))
	if files := in.Files(); err != nil || len(files) != 1 || files[0] != id {
		t.Errorf("%q, %v; the drive holds %q", id, err, files)
	}
	for says, plan := range map[string]misskeytest.Misbehaviour{
		"names no file: {}": {Status: 200, Body: "{}"}, "names no file: welcome": {Status: 200, Body: "<html>welcome"},
		"HTTP 413: too large": {Status: 413, Body: "<html>too large"}, "EOF": {Break: true},
	} {
		c.CloseIdle() // a connection that was used before may break on its own
		in.Misbehave("drive/files/create", plan)
		if id, err := c.Upload(t.Context(), "cat.png", strings.NewReader("png")); err == nil || id != "" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q, %v", says, id, err)
		}
	}
	odd := errors.New("the disk is gone")
	if _, err := c.Upload(t.Context(), "cat.png", iotest.ErrReader(odd)); !errors.Is(err, odd) {
		t.Errorf("got %v", err)
	}
	if n := len(in.Files()); n != 1 {
		t.Errorf("the drive holds %d files", n)
	}
}

// No error tells the token, neither of a call nor of a stream, where nobody is there or somebody else.
func TestErrorsHideTheToken(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	c := New(server.URL, secret.New("hush"))
	defer c.CloseIdle()
	check := func(where string) {
		t.Helper()
		_, err := Call[Nothing](t.Context(), c, "i", Nothing{})
		_, lost := c.Subscribe(t.Context())
		for _, err := range []error{err, lost} {
			if err == nil || strings.Contains(err.Error(), "hush") {
				t.Errorf("%s: %v", where, err)
			}
		}
	}
	check("somebody else")
	c.CloseIdle()
	server.Close()
	check("nobody")
}
