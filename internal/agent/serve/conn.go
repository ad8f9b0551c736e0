package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/jsonrpc"
)

const (
	// queued is how many messages wait to be written before whoever writes more has to wait.
	queued = 64
	// boxed is how many messages that came wait to be taken, and stuckTime how long there may be no room for one more
	// before the client counts as one that does not read.
	boxed     = 256
	stuckTime = 30 * time.Second
)

// errStuck says that the client does not read what it is sent.
var errStuck = errors.New("the client does not read")

// conn is a JSON-RPC connection. Messages leave it in the order in which they were sent. Three goroutines run it: read,
// hand and write. The reader waits for nobody, so that the end of the input is seen also while a client does not read.
type conn struct {
	log   *slog.Logger
	lines *jsonrpc.Lines
	out   io.Writer
	took  func(*jsonrpc.Message) // takes each request and notification, in order

	box   chan func() // what came, to be taken in order; closed by the reader
	queue chan []byte
	over  chan struct{} // closed when nothing more will be sent
	dead  chan struct{} // closed when nothing more can be sent

	mu      sync.Mutex
	last    int64
	pending map[jsonrpc.ID]chan jsonrpc.Message
	once    sync.Once
}

func newConn(log *slog.Logger, in io.Reader, out io.Writer, took func(*jsonrpc.Message)) *conn {
	return &conn{log: log, lines: jsonrpc.NewLines(in, jsonrpc.LongestLine), out: out, took: took,
		box: make(chan func(), boxed), queue: make(chan []byte, queued), over: make(chan struct{}), dead: make(chan struct{}),
		pending: map[jsonrpc.ID]chan jsonrpc.Message{}}
}

// fail ends the connection.
func (c *conn) fail(cause error) {
	c.once.Do(func() {
		if !errors.Is(cause, errLeft) {
			c.log.Warn("the connection is given up", chat.KeyErr, cause)
		}
		close(c.dead)
	})
}

// finish says that everything was sent. Nothing may be sent afterwards.
func (c *conn) finish() { close(c.over) }

// hand takes what came, one after the other, until nothing more does.
func (c *conn) hand() {
	for {
		select {
		case take, more := <-c.box:
			if !more {
				return
			}
			take()
		case <-c.dead:
			return
		}
	}
}

// later has something taken when all that came before was.
func (c *conn) later(take func()) {
	select {
	case c.box <- take:
		return
	default:
	}
	select {
	case c.box <- take:
	case <-c.dead:
	case <-time.After(stuckTime):
		c.fail(errStuck)
	}
}

// read takes what the client writes until it ends.
func (c *conn) read() error {
	defer close(c.box)
	for {
		line, err := c.lines.Next()
		if errors.Is(err, jsonrpc.ErrLong) {
			c.noMessage("the line is too long")
			continue
		}
		if err != nil {
			return err
		}
		found, noise := jsonrpc.Parse(line)
		if noise > 0 && len(found) == 0 {
			c.noMessage("the line is no message")
		}
		for i := range found {
			if found[i].Method == "" {
				c.answered(found[i])
			} else {
				c.later(func() { c.took(&found[i]) })
			}
		}
	}
}

func (c *conn) noMessage(why string) {
	c.later(func() {
		c.reply(json.RawMessage("null"), nil, &jsonrpc.Error{Code: jsonrpc.CodeNoMessage, Message: why})
	})
}

// answered hands an answer to whoever waits for it. One that nobody waits for is ignored.
func (c *conn) answered(m jsonrpc.Message) {
	key := jsonrpc.ReadID(m.ID)
	c.mu.Lock()
	come, ok := c.pending[key]
	if !ok {
		key = key.Twin()
		come, ok = c.pending[key]
	}
	delete(c.pending, key)
	c.mu.Unlock()
	if ok {
		come <- m
	}
}

// write sends what is queued, until everything was.
func (c *conn) write() {
	for {
		select {
		case line := <-c.queue:
			if !c.put(line) {
				return
			}
			continue
		case <-c.dead:
			return
		case <-c.over:
		}
		for {
			select {
			case line := <-c.queue:
				if !c.put(line) {
					return
				}
			default:
				return
			}
		}
	}
}

func (c *conn) put(line []byte) bool {
	if _, err := c.out.Write(line); err != nil {
		c.fail(fmt.Errorf("write: %w", err))
		return false
	}
	return true
}

// send queues a message. It waits for a client that reads slowly.
func (c *conn) send(line []byte) {
	select {
	case c.queue <- append(line, '\n'):
	case <-c.dead:
	}
}

// outgoing is a request or a notification of ours.
type outgoing[P any] struct {
	JSONRPC string `json:"jsonrpc"`
	ID      *int64 `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  P      `json:"params"`
}

// notify sends a notification.
func notify[P any](c *conn, method string, params P) {
	line, err := json.Marshal(outgoing[P]{JSONRPC: "2.0", Method: method, Params: params})
	if err != nil {
		c.log.Error("could not write a notification", "method", method, chat.KeyErr, err)
		return
	}
	c.send(line)
}

// request sends a request and waits for its answer, for ctx, or for the end of the connection.
func request[R, P any](ctx context.Context, c *conn, method string, params P) (R, error) {
	var answer R
	come := make(chan jsonrpc.Message, 1)
	c.mu.Lock()
	c.last++
	n := c.last
	c.pending[jsonrpc.Number(n)] = come
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.pending, jsonrpc.Number(n))
	}()
	line, err := json.Marshal(outgoing[P]{JSONRPC: "2.0", ID: &n, Method: method, Params: params})
	if err != nil {
		return answer, fmt.Errorf("%s: %w", method, err)
	}
	c.send(line)
	select {
	case m := <-come:
		if m.Error != nil {
			return answer, fmt.Errorf("%s: %w", method, m.Error)
		}
		if err := json.Unmarshal(m.Result, &answer); err != nil {
			return answer, fmt.Errorf("%s: read the answer: %w", method, err)
		}
		return answer, nil
	case <-ctx.Done():
		return answer, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	case <-c.dead:
		return answer, fmt.Errorf("%s: %w", method, errLeft)
	}
}

// response is what we answer.
type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *jsonrpc.Error  `json:"error,omitempty"`
}

// reply answers a request.
func (c *conn) reply(id, result json.RawMessage, fault *jsonrpc.Error) {
	if fault == nil && len(result) == 0 {
		result = json.RawMessage("{}")
	}
	line, err := json.Marshal(response{JSONRPC: "2.0", ID: id, Result: result, Error: fault})
	if err != nil {
		c.log.Error("could not write an answer", chat.KeyErr, err)
		return
	}
	c.send(line)
}
