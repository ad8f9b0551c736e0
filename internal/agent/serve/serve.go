// Package serve is the agent's side of the Agent Client Protocol, version 1: our own loop, driven by whoever speaks
// the protocol on a pair of streams.
//
// What it promises: nothing but the protocol is written to the output, and nothing that was said is logged. The agent
// has the client's files and the MCP servers that the client named, and nothing else of this machine but the folder
// where its sessions are kept. Whatever changes something is asked for first. When the input ends, every turn is cut
// off, and every MCP server that was started is gone when Serve returns.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"familiar/internal/agent/loop"
	"familiar/internal/chat"
	"familiar/internal/llm"

	sdk "github.com/coder/acp-go-sdk"
)

// Models are the models that sessions may have. Safe for concurrent use.
type Models interface {
	// Ready reports whether there is a provider, as an error that says what to set when there is none. It reaches
	// no network.
	Ready() error
	// Default returns the model that answers when nobody chose one.
	Default(ctx context.Context) (llm.Model, error)
	// Named returns the model of that name.
	Named(name string) (llm.Model, error)
	// Names lists the models that may be chosen; it may be empty.
	Names(ctx context.Context) []string
}

// Options is what Serve needs. Log, Models and Dir must be set.
type Options struct {
	Log     *slog.Logger
	Models  Models
	Dir     string   // where sessions are kept; it is made when it is missing
	Trust   []string // names of MCP servers whose tools run unasked
	Environ []string // our own environment, KEY=value, of which MCP servers get a few harmless variables
	Version string
	Budgets loop.Config // the zero Config takes the loop's defaults
}

const (
	// mostSessions is how many sessions may be open at once.
	mostSessions = 64
	// mostRequests is how many requests are worked on at once, turns among them.
	mostRequests = 128
	// leaveTime is how long a client may leave unread what is still said when it has closed our input, and flushTime
	// the last of it when everything else has ended.
	leaveTime = 5 * time.Second
	flushTime = 2 * time.Second
)

// errLeft ends what runs when the client has gone.
var errLeft = errors.New("the client has left")

// server is one client's agent.
type server struct {
	o     Options
	store *store
	conn  *conn
	ctx   context.Context // ends with the connection
	tasks sync.WaitGroup  // requests that are being worked on, and sessions that are being left
	slots chan struct{}

	mu       sync.Mutex
	client   sdk.ClientCapabilities
	sessions map[sdk.SessionId]*session
	leaving  bool
}

// Serve answers one client until in ends or ctx does, which are no errors. Where in cannot be closed, the read that
// waits for it is left behind: it ends with the process.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	if o.Budgets == (loop.Config{}) {
		o.Budgets = loop.Defaults()
	}
	files, err := openStore(o.Dir)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{o: o, store: files, ctx: ctx, slots: make(chan struct{}, mostRequests),
		sessions: map[sdk.SessionId]*session{}}
	s.conn = newConn(o.Log, in, out, s.take)
	ended, handed, written := make(chan error, 1), make(chan struct{}), make(chan struct{})
	go func() { ended <- s.conn.read() }()
	go func() { defer close(handed); s.conn.hand() }()
	go func() { defer close(written); s.conn.write() }()
	select {
	case err = <-ended:
	case <-s.conn.dead:
	case <-ctx.Done():
	}
	defer time.AfterFunc(leaveTime, func() { s.conn.fail(errStuck) }).Stop()
	if errors.Is(err, io.EOF) {
		<-handed // what came before the end still counts
		err = nil
	}
	cancel(errLeft)
	if c, ok := in.(io.Closer); ok {
		_ = c.Close() // it may be closed already
	}
	s.leave()
	s.conn.finish()
	select {
	case <-written:
	case <-s.conn.dead:
	case <-time.After(flushTime):
	}
	s.conn.fail(errLeft)
	<-handed
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// leave ends every session, and waits for all that is being done.
func (s *server) leave() {
	s.mu.Lock()
	s.leaving = true
	var rest []*session
	for _, open := range s.sessions {
		rest = append(rest, open)
	}
	s.mu.Unlock()
	for _, open := range rest {
		s.tasks.Go(func() { s.end(open) })
	}
	s.tasks.Wait()
}

// end closes a session and forgets it.
func (s *server) end(open *session) {
	if err := open.close(); err != nil {
		s.o.Log.Warn("a session did not close well", chat.KeySession, string(open.id), chat.KeyErr, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[open.id] == open {
		delete(s.sessions, open.id)
	}
}

// work runs f beside the reader, unless too much is being done already or the client is leaving.
func (s *server) work(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving {
		return false
	}
	select {
	case s.slots <- struct{}{}:
	default:
		return false
	}
	s.tasks.Go(func() {
		defer func() { <-s.slots }()
		f()
	})
	return true
}
