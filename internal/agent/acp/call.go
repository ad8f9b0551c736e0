package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/jsonrpc"
)

// outgoing is a request or a notification of ours.
type outgoing[P any] struct {
	JSONRPC string `json:"jsonrpc"`
	ID      *int64 `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  P      `json:"params"`
}

// begin sends a request and returns at once; the answer comes to the call. arrived may be nil.
func begin[P any](ctx context.Context, c *conn, method string, params P, arrived func()) (*call, error) {
	c.mu.Lock()
	c.last++
	n := c.last
	made := &call{id: jsonrpc.Number(n), sent: make(chan struct{}), done: make(chan struct{}), arrived: arrived}
	c.pending[made.id] = made
	c.mu.Unlock()
	line, err := json.Marshal(outgoing[P]{JSONRPC: "2.0", ID: &n, Method: method, Params: params})
	if err == nil {
		err = c.enqueue(ctx, frame{line: line, sent: made.sent, prompt: method == sdk.AgentMethodSessionPrompt})
	}
	if err != nil {
		c.forget(made)
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return made, nil
}

// forget stops waiting for an answer: when it comes, it is ignored.
func (c *conn) forget(made *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, made.id)
}

// request sends a request and waits for its answer. When ctx ends the call is forgotten.
func request[P, R any](ctx context.Context, c *conn, method string, params P) (R, error) {
	var answer R
	made, err := begin(ctx, c, method, params, nil)
	if err != nil {
		return answer, err
	}
	select {
	case <-made.done:
	case <-ctx.Done():
		c.forget(made)
		return answer, fmt.Errorf("%s: %w", method, context.Cause(ctx))
	case <-c.dead:
		return answer, fmt.Errorf("%s: %w", method, c.gone())
	}
	if made.err != nil {
		return answer, fmt.Errorf("%s: %w", method, made.err)
	}
	if err := json.Unmarshal(made.result, &answer); err != nil {
		return answer, fmt.Errorf("%s: read the answer: %w", method, err)
	}
	return answer, nil
}

// notify sends a notification; sent is closed when the agent's pipe has taken it.
func notify[P any](ctx context.Context, c *conn, method string, params P) (sent <-chan struct{}, err error) {
	f := frame{sent: make(chan struct{})}
	if f.line, err = json.Marshal(outgoing[P]{JSONRPC: "2.0", Method: method, Params: params}); err == nil {
		err = c.enqueue(ctx, f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return f.sent, nil
}

// enqueue hands a line to the writer. It waits while too much is queued already.
func (c *conn) enqueue(ctx context.Context, f frame) error {
	f.line = append(f.line, '\n')
	select {
	case <-c.dead:
		return c.gone()
	default:
	}
	select {
	case c.queue <- f:
		return nil
	case <-c.dead:
		return c.gone()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write sends what is queued. An agent that does not read for writeTimeout is given up: part of a line may be in
// its pipe, so nothing more could be said to it anyway.
func (c *conn) write() {
	for {
		select {
		case f := <-c.queue:
			if f.prompt {
				c.era.Add(1)
			}
			if err := c.put(f.line); err != nil {
				c.fail(fmt.Errorf("%w: %w", errStuck, err))
				return
			}
			close(f.sent)
		case <-c.dead:
			return
		}
	}
}

func (c *conn) put(line []byte) error {
	for len(line) > 0 {
		if err := c.in.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		select {
		case <-c.dead: // fail set a deadline in the past; do not undo it
			return c.gone()
		default:
		}
		n, err := c.in.Write(line[:min(len(line), writePiece)])
		if err != nil {
			return err
		}
		line = line[n:]
	}
	return nil
}
