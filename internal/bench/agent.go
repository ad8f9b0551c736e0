package main

import (
	"context"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// seen is the moment at which the agent was prompted.
type seen struct {
	at   time.Time
	turn chat.Turn
	db   ledger
	size int // bytes of the prompt
}

// probe is an agent that notes when it is prompted, and leaves the rest to another.
type probe struct {
	agent.Agent
	db       *counters
	prompted chan seen // one place: one prompt at a time
}

// Open implements agent.Agent.
func (p *probe) Open(ctx context.Context, o agent.Opening) (agent.Session, error) {
	s, err := p.Agent.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return probed{s, p}, nil
}

type probed struct {
	agent.Session
	probe *probe
}

// Prompt implements agent.Session.
func (p probed) Prompt(ctx context.Context, t chat.Turn, blocks []agent.Block, w agent.Watcher) (agent.Result, error) {
	now := seen{at: time.Now(), turn: t}
	var err error
	if now.db, err = p.probe.db.read(); err != nil {
		return agent.Result{}, err
	}
	for _, b := range blocks {
		if text, ok := b.(agent.Text); ok {
			now.size += len(text)
		}
	}
	select {
	case p.probe.prompted <- now:
	default: // the second prompt of a turn: the first one counts
	}
	return p.Session.Prompt(ctx, t, blocks, w)
}
