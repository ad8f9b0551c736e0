package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"familiar/internal/platform"
)

// The bounds of one call.
const (
	callTime  = 30 * time.Second
	maxAnswer = 16 << 20 // bytes
)

// newREST makes the client of the REST API. It logs nothing: the library would log what people say.
func newREST(cfg Config, version string) rest.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = callTime
	client := &http.Client{Timeout: callTime, Transport: bounded{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // the token is for Discord alone
	return rest.NewClient(cfg.Token.Reveal(), rest.WithURL(strings.TrimRight(cfg.APIURL, "/")+"/v10"), rest.WithHTTPClient(client),
		rest.WithRateLimiter(newLimits()), rest.WithLogger(slog.New(slog.DiscardHandler)),
		rest.WithUserAgent(strings.TrimRight("DiscordBot (https://familiar.invalid, "+version, ", ")+")"))
}

// bounded is a transport whose answers end.
type bounded struct{ *http.Transport }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, maxAnswer), res.Body}
	return res, nil
}

// call asks the REST API. in is nil for no body; an Out of nothing reads none. What may have been taken although there was
// no good answer is platform.Uncertain.
func call[In, Out any](ctx context.Context, d *Discord, e *rest.CompiledEndpoint, in *In) (out Out, err error) {
	var body, answer any
	if in != nil {
		body = in
	}
	if answer = &out; isNothing(answer) {
		answer = nil
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	return out, fault(d.rest.Do(e, body, answer, rest.WithCtx(ctx)))
}

func isNothing(answer any) bool {
	_, is := answer.(*nothing)
	return is
}

// get asks for something.
func get[Out any](ctx context.Context, d *Discord, e *rest.CompiledEndpoint) (Out, error) {
	return call[nothing, Out](ctx, d, e, nil)
}

// at names an endpoint of one thing. Every part is an id, or escaped.
func at(e *rest.Endpoint, query discord.QueryValues, parts ...string) *rest.CompiledEndpoint {
	params := make([]any, len(parts))
	for i, p := range parts {
		params[i] = p
	}
	return e.Compile(query, params...)
}

// The codes of Discord that mean something to us.
const (
	codeUnknownUser   = 10013
	codeMissingAccess = 50001
	codeCannotMessage = 50007 // the person takes no direct messages, or shares no server with us
	codeMissingRights = 50013
	codeBadRecipient  = 50033
	codeInvalidForm   = 50035
	codeNoMutual      = 50278
	codeNoHistory     = 160002 // an answer needs the right to read what was said
)

// refusal is an answer that says no, for good.
type refusal struct {
	status int
	code   int
	say    string
}

func (r refusal) Error() string {
	text := fmt.Sprintf("discord refuses: %s (HTTP %d, code %d)", r.say, r.status, r.code)
	switch r.code {
	case codeMissingAccess:
		text += "; let the bot's role see the channel"
	case codeMissingRights:
		text += "; the bot's role lacks a permission in that channel"
	}
	return text
}

// ofReference says that a message was refused for what it answers: a message that nobody can answer, or may not read.
func (r refusal) ofReference() bool {
	return r.code == codeNoHistory || r.code == codeInvalidForm && strings.Contains(r.say, "message_reference")
}

// fault tells the errors of a call apart.
func fault(err error) error {
	var answered *rest.Error
	var dialling *net.OpError
	var later platform.Temporary
	switch {
	case err == nil, errors.As(err, &later):
		return err
	case errors.As(err, &answered):
		return answeredFault(answered)
	case errors.As(err, &dialling) && dialling.Op == "dial":
		return platform.Temporary{Err: fmt.Errorf("discord cannot be reached: %w", dialling)}
	}
	return platform.Uncertain{Err: fmt.Errorf("no good answer from discord: %w", bare(err))}
}

// longest bounds what of Discord's own words goes into an error, in bytes.
const longest = 300

func answeredFault(e *rest.Error) error {
	status := e.Response.StatusCode
	say := e.Message
	if say == "" {
		say = http.StatusText(status)
	}
	if e.Code == codeInvalidForm {
		say = e.Error() // which field, and why
	}
	if len(say) > longest {
		say = strings.ToValidUTF8(say[:longest], "") + "…"
	}
	no := refusal{status, int(e.Code), say}
	switch {
	case status == http.StatusUnauthorized:
		return platform.Fatal{Err: errToken}
	case status == http.StatusTooManyRequests:
		return platform.Temporary{Err: no, After: retryAfter(e.Response.Header, e.RsBody)}
	case status >= http.StatusInternalServerError:
		return platform.Uncertain{Err: no}
	}
	return no
}

// longestWait bounds what a network may ask us to wait.
const longestWait = time.Hour

// retryAfter reads how long to wait: the body says it most exactly.
func retryAfter(header http.Header, body []byte) time.Duration {
	var told struct {
		After float64 `json:"retry_after"`
	}
	if json.Unmarshal(body, &told) == nil && told.After > 0 {
		return seconds(told.After)
	}
	return seconds(number(header, "Retry-After"))
}

// bare takes the address out of an error: it would only repeat itself.
func bare(err error) error {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}
