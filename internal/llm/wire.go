package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// wire carries one request and its answer. What comes out of it as an error is safe to show: no address, no key, no
// word of the conversation. It is for one goroutine.
type wire struct {
	c      *client
	ctx    context.Context
	watch  *watch
	asked  Question // to take its words out of errors
	change func(body []byte) ([]byte, error)
	body   io.Reader // of the answer, once it came
}

// wire begins to wait for an answer; end must be called.
func (c *client) wire(ctx context.Context, q Question) (w *wire, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	w = &wire{c: c, ctx: ctx, watch: newWatch(cancel, c.firstByte, c.silence), asked: q}
	return w, func() {
		w.watch.stop()
		cancel(nil)
	}
}

// Do sends a request. An answer other than 200 becomes a Problem. The body is bounded and under watch.
func (w *wire) Do(req *http.Request) (*http.Response, error) {
	if err := w.rewrite(req); err != nil {
		return nil, err
	}
	resp, err := w.c.http.Do(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &watched{ReadCloser: resp.Body, watch: w.watch, left: maxAnswer}
	w.body = resp.Body
	if resp.StatusCode == http.StatusOK {
		return w.expect(req, resp)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil && w.ctx.Err() != nil {
		return nil, err
	}
	return nil, w.refused(resp.StatusCode, resp.Header, body)
}

// maxRefusal is how much of a refusal is read, in bytes.
const maxRefusal = 64 << 10

// expect refuses an answer of another form than the one that was asked for: mostly a web page at a wrong address.
func (w *wire) expect(req *http.Request, resp *http.Response) (*http.Response, error) {
	wanted, got := req.Header.Get("Accept"), resp.Header.Get("Content-Type")
	if wanted == "" || got == "" || strings.HasPrefix(got, wanted) {
		return resp, nil
	}
	_ = resp.Body.Close()
	return nil, w.c.problem(w.c.model, Broken, fmt.Errorf("the answer is %.40q, not %q", w.clean(got), wanted))
}

// rewrite lets a dialect change the body of a request that a library made.
func (w *wire) rewrite(req *http.Request) error {
	if w.change == nil || req.Body == nil {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	if err == nil {
		body, err = w.change(body)
	}
	if err != nil {
		return fmt.Errorf("change the request: %w", err)
	}
	again := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(string(body))), nil }
	req.Body, _ = again()
	req.GetBody, req.ContentLength = again, int64(len(body))
	return nil
}

// fault makes a Problem of what went wrong, unless it is one already, or the caller gave up.
func (w *wire) fault(err error) error {
	var made Problem
	switch cause := context.Cause(w.ctx); {
	case errors.Is(cause, errSilent):
		return w.c.problem(w.c.model, Silent, fmt.Errorf("wait for %s: %w", map[bool]string{true: "more", false: "the first byte"}[w.watch.heard], errSilent))
	case cause != nil:
		return fmt.Errorf("ask %s: %w", w.c.title, cause)
	case errors.As(err, &made):
		return made
	case errors.Is(err, errTooMuch), errors.Is(err, errTooRich):
		return w.c.problem(w.c.model, Broken, err)
	}
	kind := Broken
	var request *url.Error
	if errors.As(err, &request) { // its text holds the address
		kind, err = Unreached, request.Err
	}
	made = w.c.problem(w.c.model, kind, errors.New(w.clean(err.Error())))
	made.cut = true
	return made
}

// garbage is the Problem of an answer that cannot be read.
func (w *wire) garbage(what string, err error) error {
	return w.c.problem(w.c.model, Broken, fmt.Errorf("read %s: %w", what, noWords(err)))
}

// noWords keeps of an error of the JSON decoder what holds nothing that it read.
func noWords(err error) error {
	var form *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &form):
		return fmt.Errorf("it is no JSON, from byte %d on", form.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("%s is of another type", kind.Field)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("it ends too early")
	}
	return errors.New("it is of another form")
}
