package tool

import (
	"context"
	"sync"
)

// Door is a session's way in for an agent that is another process: what the process is told, and what its owner
// does with the way in. The zero Door leads nowhere.
type Door struct {
	SkillURL string // base address of the skill API, without a path: SKILL_API_URL
	Token    string // the bearer of both faces, for this session alone: SKILL_API_TOKEN. Never log it
	MCPURL   string // address of the MCP server

	Touch func() // the session is alive: its idle time begins anew
	Close func() // nobody comes in any more; further calls do nothing
}

// Answering is for a face that has to write an answer after Call: what must not happen before the answer is out
// (an agent that loops is ended) waits in the returned context until after is called. What comes later than that
// happens at once.
func Answering(ctx context.Context) (_ context.Context, after func()) {
	a := &answer{}
	return context.WithValue(ctx, answering{}, a), a.written
}

// answering is the context key of the answer that a call is made for.
type answering struct{}

// answer holds what waits for it to be written. Safe for concurrent use.
type answer struct {
	mu   sync.Mutex
	out  bool
	wait []func()
}

func (a *answer) written() {
	a.mu.Lock()
	waiting := a.wait
	a.out, a.wait = true, nil
	a.mu.Unlock()
	for _, do := range waiting {
		do()
	}
}

// hold keeps do for later, and reports false when the answer is out already.
func (a *answer) hold(do func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.out {
		return false
	}
	a.wait = append(a.wait, do)
	return true
}

// afterAnswer does do when the answer that ctx belongs to was written, and at once where there is none.
func afterAnswer(ctx context.Context, do func()) {
	if a, ok := ctx.Value(answering{}).(*answer); ok && a.hold(do) {
		return
	}
	do()
}
