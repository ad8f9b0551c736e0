// Package desk is the seam between the spine and a kind of work: how a bot treats what it hears. A running bot
// has exactly one desk. A desk never imports another.
package desk

import (
	"context"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// Desk decides whose queue an event waits in, and attends to a turn. Safe for concurrent use: turns of
// different rooms run at once.
type Desk interface {
	// Room names the queue that the event waits in. Pure.
	Room(ev chat.Event) chat.RoomKey
	// Attend runs one turn from start to end, and returns when nothing of it runs any more. The error is for the
	// operator; a chat.UserError in it has the words for the person.
	Attend(ctx context.Context, t chat.Turn) (Result, error)
}

// Steerer is a desk that can hand what a person says to the turn that answers them.
type Steerer interface {
	// Steer hands the words of ev to a turn while it runs. The error is agent.ErrNoTurn where they were not taken:
	// there is no such turn, its agent takes none, or it has given its answer. It does not block.
	Steer(id chat.TurnID, ev chat.Event) error
}

// Continuer is a desk whose agent goes on with what was said before, so that a person has several conversations with it
// and changes between them.
type Continuer interface {
	// Continues reports whether it does. Pure.
	Continues() bool
}

// Result is what a turn came to, for the one log line and the audit.
type Result struct {
	Session string // the tool session, "" when none was opened
	Agent   string
	Model   string
	Stop    agent.StopReason
	Usage   agent.Usage
	Tools   int  // tool calls of the agent
	Retried bool // a second prompt was needed
	Replied bool // the person got an answer, a reaction or a file
}
