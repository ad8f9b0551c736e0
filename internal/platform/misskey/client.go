package misskey

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
	"strings"
	"sync/atomic"
	"time"

	"familiar/internal/secret"
)

// Bounds of one call.
const (
	callTime   = 15 * time.Second
	uploadTime = 2 * time.Minute
	maxAnswer  = 4 << 20
)

// client calls the API of one instance. Safe for concurrent use.
type client struct {
	base  string // with the scheme, without a slash at the end
	token secret.Value
	http  *http.Client
}

func newClient(cfg Config) *client {
	scheme := "https"
	if !cfg.Secure {
		scheme = "http"
	}
	return &client{base: scheme + "://" + cfg.Host, token: cfg.Token, http: &http.Client{
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

// idle closes the connections that nobody uses.
func (c *client) idle() { c.http.CloseIdleConnections() }

// nothing is the parameters of a call that needs none, and the answer of one that gives none.
type nothing struct{}

// call asks for something and decodes the answer. The error is a refusal of the instance or a loss on the way.
func call[A, P any](ctx context.Context, c *client, path string, params P) (answer A, err error) {
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
		return answer, loss{path: path, sent: true, err: errors.New("the answer is not what the API promises: " + plain(raw))}
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
func (c *client) post(ctx context.Context, path, media string, body io.Reader) ([]byte, error) {
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := http.NewRequestWithContext(traced, http.MethodPost, c.base+"/api/"+path, body)
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

// upload puts a file into our drive.
func (c *client) upload(ctx context.Context, name string, content io.Reader) (up file, err error) {
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
		return up, err
	}
	if err := json.Unmarshal(raw, &up); err != nil || !anID.MatchString(up.ID) {
		return up, loss{path: path, sent: true, err: errors.New("the answer names no file: " + plain(raw))}
	}
	return up, nil
}

func (c *client) fill(form *multipart.Writer, name string, content io.Reader) error {
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

// glimpse is the beginning of a text that should have been something else, on one line.
func glimpse(raw []byte) string {
	const most = 120
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(raw[:min(len(raw), 4*most)]), "")), " ")
	if short := []rune(text); len(short) > most {
		text = string(short[:most]) + "…"
	}
	return text
}
