package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/jsonrpc"
)

const (
	// writeTimeout is how long the agent may leave one piece of what we write unread.
	writeTimeout = 10 * time.Second
	// writePiece is how much is written under one deadline, in bytes: a slow reader of a big prompt is not stuck.
	writePiece = 64 << 10
	// lastWords is how long what an agent wrote before its end may take to be handled.
	lastWords = time.Second
)

// loggedNoise is how many lines of noise are logged one by one; of the others there is a count at the end.
const loggedNoise = 3

// errStuck says that the agent does not read what it is sent.
var errStuck = errors.New("the agent does not read what it is sent")

// errOutputEnded says that the agent closed its standard output.
var errOutputEnded = errors.New("the agent closed its output")

type (
	writePipe interface {
		io.WriteCloser
		SetWriteDeadline(time.Time) error
	}
	readPipe interface {
		io.ReadCloser
		SetReadDeadline(time.Time) error
	}
)

// peer is what a connection serves.
type peer interface {
	// notice translates a notification, and says whether there is anything to see. It is called by the reader
	// and must be quick.
	notice(method string, params json.RawMessage) (agent.Update, bool)
	// saw takes an update in its turn. era is how many prompts had been begun when it came.
	saw(update agent.Update, era int64)
	// answer takes a request in its turn; an error that is no wireError is answered as an internal one.
	answer(ctx context.Context, m *message, era int64) (json.RawMessage, error)
}

// conn is a JSON-RPC connection over an agent's standard streams. It has three goroutines: one reads, one writes,
// one hands out what was read, in order. However the connection ends, every call ends with it at once.
type conn struct {
	log   *slog.Logger
	peer  peer
	in    writePipe
	out   readPipe
	box   *inbox
	queue chan frame
	tasks sync.WaitGroup

	mu      sync.Mutex
	last    int64
	pending map[jsonrpc.ID]*call
	cause   error // set before dead is closed

	dead   chan struct{}
	active atomic.Int64 // when the agent last sent a message, Unix nanoseconds
	era    atomic.Int64 // how many prompts have been begun: what came before a prompt is no part of its turn
	odd    oddities
}

// oddities counts what was skipped.
type oddities struct{ noise, long, late, twins, unknown atomic.Int64 }

// frame is a line to write; sent is closed when the agent's pipe has taken all of it.
type frame struct {
	line   []byte
	sent   chan struct{}
	prompt bool // it begins a turn
}

// call is a request of ours that waits for its answer.
type call struct {
	id      jsonrpc.ID
	sent    chan struct{}
	done    chan struct{} // closed after everything that came before the answer has been handled
	result  json.RawMessage
	err     error
	arrived func() // called by the reader when the answer is there, before its turn
}

func newConn(log *slog.Logger, in writePipe, out readPipe, p peer) *conn {
	return &conn{log: log, peer: p, in: in, out: out, box: newInbox(), queue: make(chan frame, 64),
		pending: map[jsonrpc.ID]*call{}, dead: make(chan struct{})}
}

// start begins to read and write. The connection owns its goroutines; wait returns when they have ended, after fail.
func (c *conn) start(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.stamp()
	c.tasks.Go(func() { c.read(cancel) })
	c.tasks.Go(c.write)
	c.tasks.Go(func() { c.hand(ctx) })
}

func (c *conn) wait() { c.tasks.Wait() }

// stamp says that the agent is alive.
func (c *conn) stamp() { c.active.Store(time.Now().UnixNano()) }

// silent returns how long nothing came.
func (c *conn) silent() time.Duration { return time.Duration(time.Now().UnixNano() - c.active.Load()) }

// fail ends the connection and every call on it; only the first cause counts.
func (c *conn) fail(cause error) {
	c.mu.Lock()
	if c.cause != nil {
		c.mu.Unlock()
		return
	}
	c.cause = cause
	c.mu.Unlock()
	close(c.dead)
	c.box.close(true)
	_ = c.in.SetWriteDeadline(time.Unix(1, 0))
	_ = c.out.SetReadDeadline(time.Unix(1, 0))
}

// gone returns why the connection ended, as an agent.ErrGone.
func (c *conn) gone() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.cause, agent.ErrGone) {
		return c.cause
	}
	return fmt.Errorf("%w: %w", agent.ErrGone, c.cause)
}

// read takes what the agent writes, until it ends. cancel ends the requests that are being answered.
func (c *conn) read(cancel context.CancelCauseFunc) {
	l := jsonrpc.NewLines(c.out, jsonrpc.LongestLine)
	for {
		line, err := l.Next()
		if errors.Is(err, jsonrpc.ErrLong) {
			c.odd.long.Add(1)
			c.log.Warn("skipped a line of the agent that is too long", "limit", jsonrpc.LongestLine)
			continue
		}
		if err != nil {
			break
		}
		found, noise := jsonrpc.Parse(line)
		if noise > 0 && c.odd.noise.Add(1) <= loggedNoise {
			c.log.Debug("skipped noise on the agent's output", "bytes", noise)
		}
		for i := range found {
			c.sort(&message{Message: found[i]})
		}
	}
	c.box.close(false)
	cancel(agent.ErrGone)
	select {
	case <-c.dead:
	case <-time.After(lastWords):
		c.fail(errOutputEnded)
	}
}

// sort puts a message into the inbox.
func (c *conn) sort(m *message) {
	c.stamp()
	switch {
	case m.Method == "":
		c.answered(m)
	case jsonrpc.ReadID(m.ID).Known:
		c.box.put(item{request: m, era: c.era.Load(), size: weigh(m.Params)})
	default:
		update, ok := c.peer.notice(m.Method, m.Params)
		if !ok {
			c.odd.unknown.Add(1)
			return
		}
		if update != nil {
			c.box.put(item{update: update, era: c.era.Load(), size: weigh(m.Params)})
		}
	}
}

// answered finds the call that a response belongs to. A response to no open call is late, or made up: it is ignored.
func (c *conn) answered(m *message) {
	key := jsonrpc.ReadID(m.ID)
	c.mu.Lock()
	found, ok := c.pending[key]
	if !ok {
		if found, ok = c.pending[key.Twin()]; ok {
			key = key.Twin()
			c.odd.twins.Add(1)
			c.log.Warn("the agent changed the type of an id", "id", key.Text)
		}
	}
	delete(c.pending, key)
	c.mu.Unlock()
	if !ok {
		c.odd.late.Add(1)
		c.log.Debug("ignored a response that nobody waits for", "id", short(key.Text, 40))
		return
	}
	if found.arrived != nil {
		found.arrived()
	}
	c.box.put(item{call: found, reply: m, size: weigh(m.Result)})
}

// hand gives out what was read, one thing after the other.
func (c *conn) hand(ctx context.Context) {
	for {
		it, ok := c.box.take()
		if !ok {
			c.fail(errOutputEnded)
			return
		}
		switch {
		case it.call != nil:
			it.call.result = it.reply.Result
			if it.reply.Error != nil {
				it.call.err = it.reply.Error
			}
			close(it.call.done)
		case it.request != nil:
			c.reply(ctx, it.request, it.era)
		default:
			c.see(it.update, it.era)
		}
	}
}

func (c *conn) see(update agent.Update, era int64) {
	defer func() {
		if r := recover(); r != nil {
			c.log.Error("a watcher panicked", chat.KeyErr, fmt.Sprint(r), "stack", string(debug.Stack()))
		}
	}()
	c.peer.saw(update, era)
}

// response is what we answer.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *wireError      `json:"error,omitempty"`
}

func (c *conn) reply(ctx context.Context, m *message, era int64) {
	answer := response{JSONRPC: "2.0", ID: m.ID}
	result, err := c.asked(ctx, m, era)
	if err != nil {
		if !errors.As(err, &answer.Error) {
			answer.Error = &wireError{Code: codeInternal, Message: err.Error()}
		}
	} else if answer.Result = result; len(result) == 0 {
		answer.Result = json.RawMessage("{}")
	}
	line, err := json.Marshal(answer)
	if err != nil {
		c.log.Error("could not write an answer to the agent", chat.KeyErr, err)
		return
	}
	_ = c.enqueue(ctx, frame{line: line, sent: make(chan struct{})})
}

func (c *conn) asked(ctx context.Context, m *message, era int64) (result json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			c.log.Error("answering the agent panicked", "method", short(m.Method, 80), chat.KeyErr, fmt.Sprint(r),
				"stack", string(debug.Stack()))
			err = &wireError{Code: codeInternal, Message: "internal error"}
		}
	}()
	return c.peer.answer(ctx, m, era)
}
