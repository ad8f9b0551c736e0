package acp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// claimed is a session in a process that waited for it. That one may have ended in the very moment, unseen: when the
// first prompt finds it gone before anything came of it, another process takes its place, once.
type claimed struct {
	opening agent.Opening
	now     atomic.Pointer[session]
	spent   bool // a prompt was begun; only Prompt uses it

	//nolint:containedctx // Close, which has none, ends what Prompt opens
	life context.Context
	end  context.CancelCauseFunc
	swap sync.Mutex // held while the session is closed, or another opened for it
}

func newClaimed(ctx context.Context, s *session, o agent.Opening) *claimed {
	c := &claimed{opening: o}
	c.life, c.end = context.WithCancelCause(context.WithoutCancel(ctx))
	c.now.Store(s)
	return c
}

// ID returns the agent's own name for the session.
func (c *claimed) ID() string { return c.now.Load().ID() }

// Can says what the agent takes.
func (c *claimed) Can() agent.Can { return c.now.Load().Can() }

// Prompt runs one turn; see agent.Session.
func (c *claimed) Prompt(ctx context.Context, t chat.Turn, blocks []agent.Block, w agent.Watcher) (agent.Result, error) {
	if c.spent {
		return c.now.Load().Prompt(ctx, t, blocks, w)
	}
	c.spent = true
	first := &noticing{Watcher: w}
	result, err := c.now.Load().Prompt(ctx, t, blocks, first)
	if !errors.Is(err, agent.ErrGone) || first.any.Load() || ctx.Err() != nil {
		return result, err
	}
	if again := c.renew(ctx, err); again != nil {
		return agent.Result{}, fmt.Errorf("%w; another could not be started: %w", err, again)
	}
	return c.now.Load().Prompt(ctx, t, blocks, w)
}

// renew puts a fresh process in the place of one that is gone.
func (c *claimed) renew(ctx context.Context, why error) error {
	c.swap.Lock()
	defer c.swap.Unlock()
	if c.life.Err() != nil {
		return context.Cause(c.life)
	}
	old := c.now.Load()
	ctx, leave, err := old.agent.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })()
	old.next = nil // the turn is not over yet
	old.log.Warn("the agent that waited is gone; another is started", chat.KeyErr, errors.Join(why, old.Close()))
	s, err := old.agent.fresh(ctx, c.opening)
	if err != nil {
		return err
	}
	c.now.Store(s)
	return nil
}

// Close ends the session; see agent.Session.
func (c *claimed) Close() error {
	c.end(errClosed)
	c.swap.Lock()
	defer c.swap.Unlock()
	return c.now.Load().Close()
}

// noticing is a watcher that remembers whether anything came.
type noticing struct {
	agent.Watcher
	any atomic.Bool
}

func (n *noticing) Saw(u agent.Update) {
	n.any.Store(true)
	n.Watcher.Saw(u)
}

func (n *noticing) Permit(ctx context.Context, ask agent.Ask) agent.Answer {
	n.any.Store(true)
	return n.Watcher.Permit(ctx, ask)
}
