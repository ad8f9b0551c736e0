package tool

import "context"

// Door is a session's way in for an agent that is another process: what the process is told, and what its owner
// does with the way in. The zero Door leads nowhere.
type Door struct {
	SkillURL string // base address of the skill API, without a path: SKILL_API_URL
	Token    string // the bearer of both faces, for this session alone: SKILL_API_TOKEN. Never log it
	MCPURL   string // address of the MCP server

	Touch func() // the session is alive: its idle time begins anew
	Close func() // nobody comes in any more; further calls do nothing
}

// answering is the context key of what waits for an answer.
type answering struct{}

// Answering is for a face that has to write an answer after Call: what must not happen before the answer is out
// (an agent that loops is ended) waits in ctx until after is called. after must be called once, when the answer
// was written; ctx must not be used for calls after that.
func Answering(ctx context.Context) (_ context.Context, after func()) {
	waiting := make(chan func(), answerBacklog)
	return context.WithValue(ctx, answering{}, waiting), func() {
		for {
			select {
			case do := <-waiting:
				do()
			default:
				return
			}
		}
	}
}

// answerBacklog is how many things may wait for one answer. One request makes one call; a batch may make more.
const answerBacklog = 16

// afterAnswer does do when the answer that ctx belongs to was written, and at once where none is.
func afterAnswer(ctx context.Context, do func()) {
	waiting, ok := ctx.Value(answering{}).(chan func())
	if !ok {
		do()
		return
	}
	select {
	case waiting <- do:
	default: // it waits already, many times over
	}
}
