// Package egress is the one HTTP client for addresses that came from outside: feeds, and files of messages. Such an
// address is not to be trusted: every address that a name resolves to is looked at when the connection is made, on each
// hop, so that neither a link nor a redirect nor a name server leads into the operator's own network. What comes back
// is bounded in size and in time.
package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Options bound a client.
type Options struct {
	// Timeout is for the whole of one exchange, from the name to the last byte of the body.
	Timeout time.Duration
	// MaxBytes is the most that is read of a body, after it was unpacked.
	MaxBytes int64
	// UserAgent is how we introduce ourselves.
	UserAgent string
	// Hosts are those that the operator named: they may be anywhere, also in the operator's own network. Each is a
	// host as it stands in an address, with its port where that is not the usual one.
	Hosts []string
}

// Client fetches. Safe for concurrent use; it keeps no connection, so nothing of it has to be closed.
type Client struct {
	Options
	http *http.Client
}

// The errors that a caller may tell apart.
var (
	ErrTooLarge  = errors.New("the answer is larger than is allowed")
	ErrForbidden = errors.New("the address is not one of the public internet")
)

// maxHops is how many redirects are followed.
const maxHops = 5

// New makes a client. It does not use proxies of the environment: a proxy would resolve the names.
func New(o Options) *Client {
	c := &Client{Options: o}
	c.http = &http.Client{CheckRedirect: c.checkHop, Transport: &http.Transport{
		DialContext: c.dial, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10}}
	return c
}

// Answer is what came back. The caller closes Body; reading more of it than MaxBytes is ErrTooLarge.
type Answer struct {
	Address string // where it came from in the end, after every redirect
	Type    string // the media type that it claims, without parameters
	Charset string // what it says that its text is written in; "" when it does not say
	Body    io.ReadCloser
}

// Get fetches an address of the schemes http and https. An answer that is not of the class 200 is an error.
func (c *Client) Get(ctx context.Context, address string) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	answer, err := c.get(ctx, address)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("fetch: %w", err)
	}
	answer.Body = &body{answer.Body, cancel, c.MaxBytes}
	return answer, nil
}

func (c *Client) get(ctx context.Context, address string) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the address is none") // its own error would show it
	}
	if err := checkURL(req.URL); err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", c.UserAgent)
	res, err := c.http.Do(req) //nolint:bodyclose // it is handed on in the Answer
	if err != nil {
		return nil, unwrapped(err)
	}
	if res.StatusCode/100 != 2 {
		_ = res.Body.Close()
		return nil, fmt.Errorf("the server answered %d", res.StatusCode)
	}
	if res.ContentLength > c.MaxBytes {
		_ = res.Body.Close()
		return nil, ErrTooLarge
	}
	claim := res.Header.Get("Content-Type")
	kind, _, _ := strings.Cut(claim, ";")
	_, more, _ := mime.ParseMediaType(claim) // one that cannot be read says nothing more
	return &Answer{Address: res.Request.URL.String(), Type: strings.ToLower(strings.TrimSpace(kind)), Charset: more["charset"], Body: res.Body}, nil
}

// unwrapped takes the address out of an error of the HTTP client: it may hold a secret, or somebody's words.
func unwrapped(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// checkURL refuses what is no plain address of the web.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w: its scheme is neither http nor https", ErrForbidden)
	case u.Hostname() == "":
		return fmt.Errorf("%w: it names no host", ErrForbidden)
	case u.User != nil:
		return fmt.Errorf("%w: it holds a user", ErrForbidden)
	}
	return nil
}

func (c *Client) checkHop(req *http.Request, via []*http.Request) error {
	if len(via) > maxHops {
		return fmt.Errorf("more than %d redirects", maxHops)
	}
	req.Header.Del("Referer") // it would tell one server what stood at another
	return checkURL(req.URL)
}

// dial connects to a host, unless it resolves to somewhere that strangers must not lead us.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	if !c.named(address) {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err != nil || !public(at.Addr()) {
				return ErrForbidden
			}
			return nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// named reports whether the operator named a host.
func (c *Client) named(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	usual := port == "80" || port == "443"
	return slices.ContainsFunc(c.Hosts, func(h string) bool {
		return strings.EqualFold(h, address) || usual && strings.EqualFold(strings.Trim(h, "[]"), host)
	})
}

// Host is the form of Options.Hosts of an address that the operator wrote; "" when it is none.
func Host(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Hostname() == "" {
		return ""
	}
	if port, err := strconv.Atoi(u.Port()); err == nil && port != 80 && port != 443 {
		return net.JoinHostPort(u.Hostname(), u.Port())
	}
	return u.Hostname()
}

// body is a bounded body; closing it ends the exchange.
type body struct {
	io.ReadCloser
	end  context.CancelFunc
	left int64
}

func (b *body) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one byte more tells an end from a cut
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n = int(b.left)
		err = ErrTooLarge
	}
	b.left -= int64(n)
	return n, err
}

func (b *body) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}
