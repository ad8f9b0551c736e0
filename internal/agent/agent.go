// Package agent is the seam to whoever thinks: an external agent that speaks the Agent Client Protocol, our
// own loop, or a script. A desk opens a session, prompts it, and watches; whatever the agent says is only seen,
// never sent on. Only tools speak to people.
package agent

import (
	"context"
	"errors"

	"familiar/internal/chat"
	"familiar/internal/tool"
	"familiar/internal/workspace"
)

// Agent opens sessions. Safe for concurrent use.
type Agent interface {
	// Name says who thinks, for people: "OpenCode", "script".
	Name() string
	// Open starts a session, and whatever process it needs. It blocks until the agent is ready, ctx ends, or
	// the agent's own time limit for connecting is over.
	Open(ctx context.Context, o Opening) (Session, error)
	// Close ends every session and process that is left, and waits for them.
	Close() error
}

// Opening is what a session starts from.
type Opening struct {
	Workspace workspace.Ref
	Tools     tool.Caller
	Model     string // "" leaves the agent's own choice
	Mode      string // "" is the restricted default; "yolo" asks for everything

	// Type says what the session is for; "" is a message's.
	Type chat.SessionType
	// At is the kind of place that the session works for. A process that waits for work is never taken for
	// another kind, and never for another workspace.
	At chat.PlaceKind
	// Resume is the ID of an earlier session of the workspace to go on with; "" begins a new one. What the agent
	// tells of it again is not shown to anybody. Where it cannot be gone on with, a new session is opened: its ID
	// is another one then, and whoever asked says so once, and keeps the ID that it had.
	Resume string
	// Fork goes on with a copy of Resume, and leaves the earlier session as it was.
	Fork bool
}

// Session is one continuing conversation with an agent. One Prompt at a time; Close may come at any time, and
// makes a running Prompt return at once.
type Session interface {
	// ID is the agent's own name for the session.
	ID() string
	Can() Can
	// Prompt runs one turn and returns when it has ended. When ctx ends the turn is cancelled: the agent gets a
	// grace to say so, then it is ended; the error is then context.Cause(ctx). w is called from one goroutine.
	Prompt(ctx context.Context, t chat.Turn, blocks []Block, w Watcher) (Result, error)
	// Close ends the session and its process with all descendants, and returns when they are gone.
	Close() error
}

// Can says what a session's agent is able to do.
type Can struct {
	Image  bool   // takes image blocks
	Load   bool   // goes on with earlier sessions, and tells them again
	Resume bool   // goes on with earlier sessions without telling them again
	Fork   bool   // goes on with a copy of an earlier session
	Tmp    string // its temporary folder, as the agent itself names it; "" when it has none
	Steer  bool   // is a Steerer: it takes words while a turn runs

	// Rehearses says that nobody thinks here: a turn is whole without an answer, and is not prompted again.
	Rehearses bool
}

// Steerer is a session whose Can().Steer is set.
type Steerer interface {
	// Steer hands words to the running turn, which sees them before it goes on. The error is ErrNoTurn when none
	// runs, or when the one that does has thought its last: the words are then not taken. It does not block.
	Steer(text string) error
}

// Block is a piece of a prompt. The set is closed: Text and Image.
type Block interface{ block() }

type (
	// Text is words.
	Text string
	// Image is a picture; Data is the raw file.
	Image struct {
		MIME string
		Data []byte
	}
)

func (Text) block()  {}
func (Image) block() {}

// Watcher sees a turn unfold and answers what the agent asks.
type Watcher interface {
	Saw(Update)
	// Permit answers a permission request; it may block until ctx, which is the turn's, ends.
	Permit(ctx context.Context, ask Ask) Answer
}

// Update is something that an agent let us see. The set is closed.
type Update interface{ update() }

type (
	// Message is a piece of the agent's own words.
	Message struct{ Text string }
	// Thought is a piece of its thinking.
	Thought struct{ Text string }
	// ToolCall is a tool that the agent started, or whose state changed.
	ToolCall struct {
		ID     string
		Title  string
		Kind   ToolKind
		Status ToolStatus
		Input  string // its input as JSON, and
		Output string // its answer, or the start of it, where the agent lets them be seen; never log them
	}
	// Plan is the agent's list of steps.
	Plan struct{ Steps []string }
	// Usage is what the turn cost so far, in tokens; 0 where the agent does not say.
	Usage struct{ Input, Output, Total int }
)

func (Message) update()  {}
func (Thought) update()  {}
func (ToolCall) update() {}
func (Plan) update()     {}
func (Usage) update()    {}

// ToolKind is the Agent Client Protocol's word for what a tool does.
type ToolKind string

// The kinds, as the protocol names them.
const (
	KindRead    ToolKind = "read"
	KindEdit    ToolKind = "edit"
	KindDelete  ToolKind = "delete"
	KindMove    ToolKind = "move"
	KindSearch  ToolKind = "search"
	KindExecute ToolKind = "execute"
	KindThink   ToolKind = "think"
	KindFetch   ToolKind = "fetch"
	KindOther   ToolKind = "other"
)

// ToolStatus is the protocol's word for how far a tool call is.
type ToolStatus string

// The states, as the protocol names them.
const (
	StatusPending   ToolStatus = "pending"
	StatusRunning   ToolStatus = "in_progress"
	StatusCompleted ToolStatus = "completed"
	StatusFailed    ToolStatus = "failed"
)

// Ask is an agent's request for permission to run one of its own tools.
type Ask struct {
	Call     string // the tool call's id
	Title    string
	Kind     ToolKind
	Paths    []string // the locations that it names
	RawInput []byte   // the tool's input as JSON, or nil
	Options  []Option

	// Of names the server whose tool it is, where that is somebody else's: its effect is not known. Tool is then its
	// name there; ReadOnly and Destroys are what the server says of it.
	Of, Tool           string
	ReadOnly, Destroys bool
}

// Option is an answer that the agent offers. Agents order them as they like: choose by Kind.
type Option struct {
	ID, Name string
	Kind     OptionKind
}

// OptionKind is the protocol's word for what an option means.
type OptionKind string

// The kinds of option, as the protocol names them.
const (
	AllowOnce    OptionKind = "allow_once"
	AllowAlways  OptionKind = "allow_always"
	RejectOnce   OptionKind = "reject_once"
	RejectAlways OptionKind = "reject_always"
)

// Answer is the id of the chosen option; the zero Answer is the protocol's «cancelled».
type Answer struct{ Option string }

// Choose returns the option of the ask that means allow (or not): the one-time kind, else for a yes the lasting
// one, else for a no the lasting one. Where the agent offers nothing that means it, the answer is «cancelled»:
// a refusal never becomes an allow.
func (a Ask) Choose(allow bool) Answer {
	once, always := RejectOnce, RejectAlways
	if allow {
		once, always = AllowOnce, AllowAlways
	}
	for _, kind := range []OptionKind{once, always} {
		for _, o := range a.Options {
			if o.Kind == kind {
				return Answer{Option: o.ID}
			}
		}
	}
	return Answer{}
}

// StopReason is the protocol's word for why a turn ended.
type StopReason string

// The reasons, as the protocol names them.
const (
	EndTurn         StopReason = "end_turn"
	MaxTokens       StopReason = "max_tokens"
	MaxTurnRequests StopReason = "max_turn_requests"
	Refusal         StopReason = "refusal"
	Cancelled       StopReason = "cancelled"
)

// Result is how a turn ended.
type Result struct {
	Stop  StopReason
	Usage Usage
}

// ErrGone says that the agent's process ended, or its session was closed, while something was asked of it.
var ErrGone = errors.New("the agent is gone")

// ErrRefused says that the model declines to answer. Where that ends a turn which has a Result, it is the Refusal.
var ErrRefused = errors.New("the model declines to answer")

// ErrNoTurn says that there is no turn that could be steered.
var ErrNoTurn = errors.New("no turn is running")

// ErrIdle says that the agent did nothing for longer than it may.
var ErrIdle = errors.New("the agent has gone silent")
