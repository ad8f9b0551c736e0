package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// client asks one model of one provider. It holds no state of a conversation.
type client struct {
	place
	model              string
	http               http.Client
	firstByte, silence time.Duration
	pause              func(ctx context.Context, d time.Duration) error
}

// Name returns the model's id.
func (c *client) Name() string { return c.model }

// Provider returns the provider's name for people.
func (c *client) Provider() string { return c.title }

const (
	maxTries    = 4
	maxDelay    = time.Minute            // of a provider that asks for more, we do not wait for the answer
	firstDelay  = 500 * time.Millisecond // doubled with each try
	delaySpread = 0.25                   // so that many who were refused at once do not come back at once
)

// Ask is Model's.
func (c *client) Ask(ctx context.Context, q Question, saw func(Piece)) (Answer, error) {
	for try := 1; ; try++ {
		out := &answering{saw: saw}
		err := c.once(ctx, q, out)
		if err == nil {
			return out.answer(), nil
		}
		wait, again := again(err, try)
		if out.seen || !again {
			return Answer{}, err
		}
		if err := c.pause(ctx, wait); err != nil {
			return Answer{}, fmt.Errorf("ask %s: %w", c.title, err)
		}
	}
}

// once sends the question and reads the answer into out.
func (c *client) once(ctx context.Context, q Question, out *answering) error {
	w, end := c.wire(ctx, q)
	defer end()
	speak := c.askChat
	if c.speaks == messages {
		speak = c.askMessages
	}
	if err := speak(w, q.tidy(c.images), out); err != nil {
		return w.fault(err)
	}
	return nil
}

// again says whether, and after how long, a question may be asked once more.
func again(err error, try int) (time.Duration, bool) {
	var p Problem
	if !errors.As(err, &p) || !p.passes() || try >= maxTries || p.After > maxDelay {
		return 0, false
	}
	wait := firstDelay << (try - 1)
	wait += time.Duration(rand.Float64() * delaySpread * float64(wait))
	return max(wait, p.After), true
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
