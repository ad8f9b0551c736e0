package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"familiar/internal/platform"
)

// maxAnswer is how much of an answer is read, so that the connection can be used again.
const maxAnswer = 64 << 10

// newClient makes a client that follows no redirect: the address is the operator's, and nobody else's.
func newClient(cfg Config) *http.Client {
	timeout := time.Duration(cfg.TimeoutMs) * time.Millisecond
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: timeout}).DialContext,
			TLSHandshakeTimeout:    timeout,
			ResponseHeaderTimeout:  timeout,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost:    senders,
			MaxConnsPerHost:        senders,
			IdleConnTimeout:        time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// verdict is what became of one attempt.
type verdict struct {
	taken bool
	final bool // another attempt would change nothing
	after time.Duration
	fault string
}

// send posts a letter once. Its signature is of this moment, its key the same in each attempt.
func (w *Webhook) send(ctx context.Context, id string, body []byte) verdict {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.cfg.ReplyURL, bytes.NewReader(body))
	if err != nil {
		return verdict{final: true, fault: "the address is not understood"}
	}
	for name, value := range w.cfg.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set(headerKey, id)
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "Familiar")
	}
	stampHeaders(req.Header, w.secret, body, time.Now())
	res, err := w.client.Do(req)
	if err != nil {
		return verdict{fault: bare(err)}
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // only the status counts
	_ = res.Body.Close()
	return judge(res)
}

// judge reads an answer. A client error is final, unless it is one of time.
func judge(res *http.Response) verdict {
	v := verdict{fault: fmt.Sprintf("HTTP %d", res.StatusCode)}
	switch code := res.StatusCode; {
	case code >= 200 && code < 300:
		return verdict{taken: true}
	case code >= 300 && code < 400:
		v.final, v.fault = true, v.fault+": redirects are not followed; set replyUrl to where it leads"
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests:
		v.after = platform.RetryAfter(res.Header, time.Now())
	case code >= 400 && code < 500:
		v.final = true
	default:
		v.after = platform.RetryAfter(res.Header, time.Now())
	}
	return v
}

// bare takes the address out of an error: it may hold a key.
func bare(err error) string {
	var whole *url.Error
	if errors.As(err, &whole) {
		if whole.Timeout() {
			return "no answer in time"
		}
		err = whole.Err
	}
	text := err.Error()
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}
