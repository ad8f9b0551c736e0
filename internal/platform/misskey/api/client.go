// Package api is a client of a Misskey instance's API: calls and uploads over HTTP, and one stream over a WebSocket. It
// knows how the instance is spoken to and what its refusals mean to the seam of platforms, and nothing of notes, chats
// or places: whoever calls says what is asked and what of the answer is read.
//
// The token goes to the instance alone: in the body of a call, in the address of the stream, and never into an error.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"familiar/internal/secret"
)

// Bounds of one exchange.
const (
	callTime   = 15 * time.Second
	uploadTime = 2 * time.Minute
	maxAnswer  = 4 << 20
)

// Client calls the API of one instance with the token of one account. Safe for concurrent use.
type Client struct {
	origin string
	token  secret.Value
	http   *http.Client
}

// New makes a client of the instance at origin: its scheme, http or https, and its host, without a slash at the end. It
// connects when it is asked for something, through the proxy of the environment where there is one.
func New(origin string, token secret.Value) *Client {
	return &Client{origin: origin, token: token, http: &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost:    8,
			MaxConnsPerHost:        32,
			IdleConnTimeout:        30 * time.Second,
		},
		// The token is in the body: it goes to the host that the operator named and to no other.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// CloseIdle closes the connections that nobody uses.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Nothing is the parameters of a call that needs none, and the answer of one that gives none.
type Nothing struct{}

// Call asks an endpoint, such as "notes/show", for something and decodes the answer; one without a body is the zero A.
// P is encoded as a JSON object, to which the token is added. It blocks for 15 s at most, and an answer of more than
// 4 MiB is not read. The error is a refusal of the instance or a loss on the way; what it means, Judge says.
func Call[A, P any](ctx context.Context, c *Client, path string, params P) (answer A, err error) {
	body, err := sign(c.token, params)
	if err != nil {
		return answer, fmt.Errorf("%s: %w", path, err)
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	raw, err := c.post(ctx, path, "application/json", bytes.NewReader(body))
	if err != nil || len(raw) == 0 {
		return answer, err
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, Misread(path, "the answer is not what the API promises: "+plain(raw))
	}
	return answer, nil
}

// sign adds the token to parameters.
func sign[P any](with secret.Value, params P) ([]byte, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	token, err := json.Marshal(with.Reveal())
	if err != nil {
		return nil, err
	}
	signed := append([]byte(`{"i":`), token...)
	if rest := body[1:]; len(rest) > 1 {
		return append(append(signed, ','), rest...), nil
	}
	return append(signed, '}'), nil
}

// post makes one exchange, bounded in size.
func (c *Client) post(ctx context.Context, path, media string, body io.Reader) ([]byte, error) {
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := http.NewRequestWithContext(traced, http.MethodPost, c.origin+"/api/"+path, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	req.Header.Set("Content-Type", media)
	req.Header.Set("User-Agent", "Familiar")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, loss{path: path, sent: sent.Load(), err: bare(err)}
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	_ = res.Body.Close()
	switch {
	case res.StatusCode/100 != 2:
		return nil, newRefusal(path, res, raw)
	case err != nil:
		return nil, loss{path: path, sent: true, err: bare(err)}
	case len(raw) > maxAnswer:
		return nil, loss{path: path, sent: true, err: fmt.Errorf("the answer is longer than %d MiB", maxAnswer>>20)}
	}
	return raw, nil
}

// Upload puts a file into the drive of our account and returns its id; content that is there already is there twice then.
// It blocks for two minutes at most, or for as long as a read of content does, and reads nothing any more when it returns.
// Its errors are those of Call; content that cannot be read is a loss.
func (c *Client) Upload(ctx context.Context, name string, content io.Reader) (id string, err error) {
	const path = "drive/files/create"
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	body, into := io.Pipe()
	form := multipart.NewWriter(into)
	filled := make(chan struct{})
	go func() {
		defer close(filled)
		_ = into.CloseWithError(c.fill(form, name, content)) // it always returns nil
	}()
	raw, err := c.post(ctx, path, form.FormDataContentType(), body)
	_ = body.CloseWithError(errors.New("the exchange is over")) // nobody reads any more, so nobody writes
	<-filled
	if err != nil {
		return "", err
	}
	var file struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(raw, &file); err != nil || !IsID(file.ID) {
		return "", Misread(path, "the answer names no file: "+plain(raw))
	}
	return file.ID, nil
}

func (c *Client) fill(form *multipart.Writer, name string, content io.Reader) error {
	for _, field := range [][2]string{{"i", c.token.Reveal()}, {"name", name}, {"force", "true"}} {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return err
		}
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(part, content); err != nil {
		return err
	}
	return form.Close()
}

// bare takes the address out of an error: that of the stream holds the token.
func bare(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		return whole.Err
	}
	return err
}
