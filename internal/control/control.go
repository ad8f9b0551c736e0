// Package control talks to a running bot over its HTTP API, as its owner: for the command line and for scripts.
// Every call is bounded in size; its time is the caller's context.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"familiar/internal/secret"
)

// Client is a way to one bot. Safe for concurrent use.
type Client struct {
	base  string
	token secret.Value
	http  *http.Client
}

// maxAnswer bounds one answer that is not a stream, in bytes.
const maxAnswer = 1 << 20

// New returns a client of the bot at base (http://127.0.0.1:8420) with its token.
func New(base string, token secret.Value) *Client {
	refuse := func(*http.Request, []*http.Request) error {
		return errors.New("the bot redirects, which it never does")
	}
	return &Client{strings.TrimRight(base, "/"), token, &http.Client{CheckRedirect: refuse}}
}

// Link makes a one-use login link of the bot's page.
func (c *Client) Link(ctx context.Context) (string, error) {
	var made struct {
		URL string `json:"url"`
	}
	err := c.post(ctx, "/console/login", struct{}{}, &made)
	return made.URL, err
}

// message opens or continues a session.
type message struct {
	Message string `json:"message"`
	ID      string `json:"id"`
}

// Posted is a message that the bot took. Message is "" when it had been taken before.
type Posted struct {
	Session string `json:"sessionId"`
	Message string `json:"messageId"`
	Text    string `json:"-"`
}

// Post sends a message; session "" begins a new one. The same id is taken once.
func (c *Client) Post(ctx context.Context, session, id, text string) (Posted, error) {
	path := "/v1/sessions"
	if session != "" {
		path += "/" + url.PathEscape(session)
	}
	posted := Posted{Session: session, Text: text}
	if err := c.post(ctx, path, message{text, id}, &posted); err != nil {
		return Posted{}, err
	}
	return posted, nil
}

// Cancel ends the turn that runs in a session.
func (c *Client) Cancel(ctx context.Context, session string) error {
	return c.post(ctx, "/v1/sessions/"+url.PathEscape(session)+"/cancel", struct{}{}, nil)
}

func (c *Client) post(ctx context.Context, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	resp, err := c.ask(ctx, http.MethodPost, path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	if into == nil {
		return resp.Body.Close()
	}
	return read(resp, into)
}

// read reads an answer to its end.
func read(resp *http.Response, into any) error {
	defer resp.Body.Close() //nolint:errcheck // it was read
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("read the bot's answer: %w", err)
	}
	return nil
}

// ask sends a request and returns its answer when that is a success.
func (c *Client) ask(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("the bot's address %q: %w", c.base, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	var wrapped *url.Error
	switch {
	case ctx.Err() == nil && errors.As(err, &wrapped): // the address is the bot's, whatever was asked for there
		return nil, fmt.Errorf("reach the bot at %s: %w (is it running? start it with: familiar up)", c.base, wrapped.Err)
	case err != nil:
		return nil, fmt.Errorf("reach the bot at %s: %w", c.base, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close() //nolint:errcheck // nothing more is wanted of it
	refused := Refused{Status: resp.StatusCode}
	_ = json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&refused) // the status says enough
	if refused.Say == "" {
		refused.Say = http.StatusText(resp.StatusCode)
	}
	return nil, refused
}

// Refused is an answer that is no success.
type Refused struct {
	Status int    `json:"-"`
	Say    string `json:"error"`
	First  int64  `json:"firstIndex"` // with 410: the first event that is still kept
}

func (r Refused) Error() string {
	if r.Status == http.StatusUnauthorized {
		return "the bot refused (401): this is not its token; FAMILIAR_TOKEN has to be the content of state/token in its directory"
	}
	return fmt.Sprintf("the bot refused (%d): %s", r.Status, r.Say)
}

// Temporary reports whether the same may be taken later.
func (r Refused) Temporary() bool {
	return r.Status == http.StatusTooManyRequests || r.Status >= http.StatusInternalServerError
}
