// Package toolclient is the way to tools that are not ours: those of other people's MCP servers, over standard
// streams or streamable HTTP. A server that is started is reaped with all its descendants when its session ends. What
// a server answers is bounded, and is foreign: whoever shows it to a model lowers what the turn may do.
package toolclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"familiar/internal/process"
)

// Server is an MCP server of somebody else.
type Server struct {
	Name    string
	Command string   // the program of a server on standard streams; "" for one that has a URL
	Args    []string // its arguments
	Env     []string // KEY=value, added to Place.Env
	URL     string   // address of a streamable HTTP server
	Headers map[string]string
	Trusted bool // the operator has said that its tools need not ask
}

// Place is where servers on standard streams stand. The zero Place is the root directory, with an empty environment
// and no walls.
type Place struct {
	Dir   string
	Env   []string // KEY=value
	Walls func(Server) *process.Walls
	Leave func() error // is called when every server is gone; may be nil
}

// Tool is a tool of a server.
type Tool struct {
	Server  string
	Name    string // as the server names it
	Doc     string
	Params  json.RawMessage // a JSON Schema
	Trusted bool

	// What the server says of it. A tool that says nothing may do anything.
	ReadOnly bool // it changes nothing
	Destroys bool // it may take away what is there

	link  *link
	check func(json.RawMessage) error
}

// Result is what a tool answered.
type Result struct {
	Text   string
	Images []Image
	Failed bool
}

// Image is a picture in a result; Data is the raw file.
type Image struct {
	MIME string
	Data []byte
}

// Options of a set. Log never gets what was said.
type Options struct {
	Log     *slog.Logger
	Connect time.Duration // how long a server may take to be ready; 0: 30 seconds
	Most    int           // bytes of text that a result is cut to; 0: 64 KiB
}

// Set is the servers of one session. Safe for concurrent use.
type Set struct {
	links  []*link
	tools  []Tool
	failed []int
	place  Place
	once   sync.Once
	err    error
}

const (
	defaultConnect = 30 * time.Second // as external agents have by default
	defaultMost    = 64 << 10
	// mostTools bounds the tools of one server: what a model is told of each costs tokens in every request.
	mostTools = 256
	// So do the words about them: these are the bytes that one tool may have, the rest is cut, and those that all tools
	// of a server may have with their schemas, which cannot be cut.
	mostDoc   = 8 << 10
	mostWords = 256 << 10
)

// Open connects to all servers at once, and returns when each is ready or has failed; those that fail are left out
// with a warning, since a session without them is better than none. ctx bounds the opening only. The error is ctx's
// own: the set is then closed.
func Open(ctx context.Context, servers []Server, place Place, o Options) (*Set, error) {
	if o.Connect <= 0 {
		o.Connect = defaultConnect
	}
	if o.Most <= 0 {
		o.Most = defaultMost
	}
	s := &Set{place: place}
	links, faults := make([]*link, len(servers)), make([]error, len(servers))
	var opening sync.WaitGroup
	for i, server := range servers {
		opening.Go(func() { links[i], faults[i] = connect(ctx, server, place, o) })
	}
	opening.Wait()
	for i, l := range links {
		if faults[i] != nil {
			o.Log.Warn("an MCP server is left out", "server", servers[i].Name, "err", faults[i])
			s.failed = append(s.failed, i)
			continue
		}
		s.links = append(s.links, l)
		s.tools = append(s.tools, l.tools...)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("connect MCP servers: %w", errors.Join(context.Cause(ctx), s.Close()))
	}
	return s, nil
}

// Tools returns the tools of all servers, in the order of the servers.
func (s *Set) Tools() []Tool { return s.tools }

// Failed returns the places, in what Open was given, of the servers that are left out.
func (s *Set) Failed() []int { return s.failed }

// Close ends every connection and every process that was started, and waits for them. Further calls wait for the
// first.
func (s *Set) Close() error {
	s.once.Do(func() {
		var closing sync.WaitGroup
		faults := make([]error, len(s.links))
		for i, l := range s.links {
			closing.Go(func() { faults[i] = l.close() })
		}
		closing.Wait()
		if s.place.Leave != nil {
			faults = append(faults, s.place.Leave())
		}
		s.err = errors.Join(faults...)
	})
	return s.err
}

// ErrInput says that a tool was called with what does not fit its schema; its text says what.
var ErrInput = errors.New("the input does not fit")

// ErrServer says that a server did not answer as it should: it is gone, or it broke the protocol.
var ErrServer = errors.New("the MCP server failed")

// Call runs the tool and returns when it has answered, or ctx ends. Input that does not fit the tool's schema is an
// ErrInput, and goes nowhere; other errors are ErrServer, or ctx's own. A refusal of the tool's own is a Result that Failed.
func (t Tool) Call(ctx context.Context, input json.RawMessage) (Result, error) {
	if err := t.check(input); err != nil {
		return Result{}, fmt.Errorf("%w: %s: %w", ErrInput, t.Name, err)
	}
	return t.link.call(ctx, t.Name, input)
}
