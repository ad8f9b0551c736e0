package toolserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"familiar/internal/tool"
)

const (
	// repeatWindow is how long the result of a call answers its repeats.
	repeatWindow = time.Second
	// maxKept is how many results one session keeps at once; more are not kept.
	maxKept = 128
)

// unrepeatable are the tools whose results are not kept: a file that is asked for twice is sent twice, or refused
// by its own quota.
var unrepeatable = map[string]bool{"send-file": true}

// calls are the calls of one session that run, or were answered just now. Clients retry what they think is
// lost; a reply must not go out twice for it. Only a success is kept: whoever tries again after a failure means
// it. The zero calls with now set is ready; safe for concurrent use.
type calls struct {
	now func() time.Time

	mu   sync.Mutex
	kept map[string]*flight
}

// flight is one execution, shared by all who asked for it. res, err and ended are written before done closes.
type flight struct {
	done  chan struct{}
	res   tool.Result
	err   error
	ended time.Time
}

// do runs a call, or waits for (or repeats) the result of an equal one. Whoever only waits gives up when ctx ends.
func (c *calls) do(ctx context.Context, name string, args json.RawMessage, run func() (tool.Result, error)) (tool.Result, error) {
	key := name + "\x00" + canonical(args)
	f, mine := c.join(key, !unrepeatable[name])
	if !mine {
		select {
		case <-f.done:
			return f.res, f.err
		case <-ctx.Done():
			return tool.Result{}, context.Cause(ctx)
		}
	}
	// A call that panics must not leave the others waiting.
	f.err = fmt.Errorf("%s did not come to an end", name)
	defer c.finish(key, f)
	f.res, f.err = run()
	return f.res, f.err
}

// join returns the flight of key, and whether the caller has to fly it.
func (c *calls) join(key string, share bool) (_ *flight, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, f := range c.kept {
		if !f.ended.IsZero() && c.now().Sub(f.ended) >= repeatWindow {
			delete(c.kept, k)
		}
	}
	if f := c.kept[key]; f != nil && share {
		return f, false
	}
	f := &flight{done: make(chan struct{})}
	if share && len(c.kept) < maxKept {
		if c.kept == nil {
			c.kept = map[string]*flight{}
		}
		c.kept[key] = f
	}
	return f, true
}

func (c *calls) finish(key string, f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.ended = c.now()
	if f.err != nil && c.kept[key] == f {
		delete(c.kept, key)
	}
	close(f.done)
}

// canonical writes JSON so that equal values look equal: keys sorted at every level, no white space, numbers as
// they were written. What is not JSON is taken as it is.
func canonical(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil || value == nil {
		return string(bytes.TrimSpace(raw))
	}
	out, err := json.Marshal(value)
	if err != nil {
		return string(raw)
	}
	return string(out)
}
