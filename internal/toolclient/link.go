package toolclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"familiar/internal/process"
)

const (
	// longestMessage is the longest message that a server may send, in bytes.
	longestMessage = 8 << 20
	// lastWords is how long a server may take to end when it is told to.
	lastWords = 2 * time.Second
)

// link is a connection to one server.
type link struct {
	server  Server
	session *mcp.ClientSession
	tools   []Tool
	most    int
	release func() error // ends what the connection runs over
}

// connect opens a connection and reads the list of tools.
func connect(ctx context.Context, server Server, place Place, o Options) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Connect, fmt.Errorf("not ready within %s", o.Connect))
	defer cancel()
	l := &link{server: server, most: o.Most}
	transport, err := l.transport(ctx, place)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "familiar", Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	if l.session, err = client.Connect(ctx, transport, nil); err == nil {
		err = l.list(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("connect: %w", errors.Join(err, l.close()))
	}
	return l, nil
}

func (l *link) transport(ctx context.Context, place Place) (mcp.Transport, error) {
	if l.server.Command == "" {
		return l.web(), nil
	}
	if place.Dir == "" {
		place.Dir = "/"
	}
	spec := process.Spec{Path: l.server.Command, Args: l.server.Args, Dir: place.Dir,
		Env: append(append([]string{}, place.Env...), l.server.Env...)}
	if place.Walls != nil {
		spec.Walls = place.Walls(l.server)
	}
	p, err := process.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	l.release = func() error { return p.Stop(process.Grace{EOF: lastWords, Term: lastWords}) }
	return &mcp.IOTransport{Reader: p.Stdout(), Writer: p.Stdin(), MaxLineLength: longestMessage}, nil
}

// web is a transport to an address that the operator wrote down. It follows no redirection, since the headers hold
// secrets that are for this address alone.
func (l *link) web() mcp.Transport {
	base := http.DefaultTransport.(*http.Transport).Clone()
	l.release = func() error { base.CloseIdleConnections(); return nil }
	client := &http.Client{Transport: headed{base, l.server.Headers},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &mcp.StreamableClientTransport{Endpoint: l.server.URL, HTTPClient: client, MaxRetries: -1,
		DisableStandaloneSSE: true, MaxEventSize: longestMessage}
}

// headed adds the operator's headers to requests, and bounds what is answered.
type headed struct {
	base    http.RoundTripper
	headers map[string]string
}

func (h headed) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if r.Method == http.MethodDelete { // the goodbye, of which only the status is read
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lastWords)
		defer cancel()
	}
	r = r.Clone(ctx)
	for name, value := range h.headers {
		r.Header.Set(name, value)
	}
	answer, err := h.base.RoundTrip(r)
	if err == nil {
		answer.Body = &bounded{answer.Body, 4 * longestMessage}
	}
	return answer, err
}

// bounded is a body that ends with an error when it is too long.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("the server's answer is too long")
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// list reads the server's tools, page by page.
func (l *link) list(ctx context.Context) error {
	words := 0
	for t, err := range l.session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list tools: %w", err)
		}
		if len(l.tools) == mostTools {
			return fmt.Errorf("list tools: more than %d", mostTools)
		}
		params, err := json.Marshal(t.InputSchema)
		if err != nil {
			return fmt.Errorf("list tools: the schema of %s: %w", t.Name, err)
		}
		doc := Shorten(t.Description, mostDoc)
		if words += len(doc) + len(params); words > mostWords {
			return fmt.Errorf("list tools: more than %d KiB of words about them", mostWords>>10)
		}
		made := Tool{Server: l.server.Name, Name: t.Name, Doc: doc, Params: params,
			Trusted: l.server.Trusted, link: l, check: checker(params)}
		if hints := t.Annotations; hints != nil {
			made.ReadOnly = hints.ReadOnlyHint
			made.Destroys = !made.ReadOnly && hints.DestructiveHint != nil && *hints.DestructiveHint
		}
		l.tools = append(l.tools, made)
	}
	return nil
}

func (l *link) call(ctx context.Context, name string, input json.RawMessage) (Result, error) {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	answer, err := l.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: input})
	if err != nil {
		if ctx.Err() != nil {
			return Result{}, fmt.Errorf("call %s of %s: %w", name, l.server.Name, context.Cause(ctx))
		}
		return Result{}, fmt.Errorf("call %s of %s: %w: %w", name, l.server.Name, ErrServer, err)
	}
	return read(answer, l.most), nil
}

// close ends the process first: a server that does not read cannot hold up the end then.
func (l *link) close() error {
	var err error
	if l.server.Command != "" && l.release != nil {
		err = l.release()
	}
	if l.session != nil {
		_ = l.session.Close() // what it runs over may be gone already, which is what we want
	}
	if l.server.Command == "" && l.release != nil {
		err = l.release()
	}
	return err
}
