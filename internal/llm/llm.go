// Package llm is the seam to model providers: one small interface, and a client for each wire dialect behind it.
// It knows no tools of ours, keeps no conversation and decides nothing: a caller hands over the whole
// conversation each time, and gets the answer as a stream.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Model answers conversations. Safe for concurrent use.
type Model interface {
	// Name is the model's id, as the provider spells it.
	Name() string
	// Provider is who serves it, for people: "Anthropic", "Ollama", and the host where that is not the provider's own.
	Provider() string
	// Ask sends the conversation and hands each piece of the answer to saw, on one goroutine, as it comes. It
	// returns the whole answer when the stream has ended well. It tries again, while nothing was seen yet, on what
	// may pass (429, 5xx, 529, a broken connection), for as long as ctx and the provider's delay allow. Errors are
	// Problems, or the cause for which ctx ended; no error and no log holds a key.
	Ask(ctx context.Context, q Question, saw func(Piece)) (Answer, error)
}

// Question is one request. Limits that are zero leave the choice to the provider.
type Question struct {
	System    string
	Messages  []Message
	Tools     []Tool
	Schema    json.RawMessage // the answer must be JSON of this schema; nil for free text
	MaxTokens int
}

// Role is who speaks in a message.
type Role string

// The roles. The results of tools are parts of a User message.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of the conversation.
type Message struct {
	Role  Role
	Parts []Part
}

// Part is a piece of a message. The set is closed: the types below.
type Part interface{ part() }

type (
	// Text is words.
	Text string
	// Thinking is what a model thought; Signature is the provider's proof that it is its own, to be sent back
	// unchanged with the tool calls that followed it.
	Thinking struct{ Text, Signature string }
	// Image is a picture; Data is the raw file.
	Image struct {
		MIME string
		Data []byte
	}
	// Call is a tool call that the model wants. Input is JSON as the model wrote it, which may be wrong.
	Call struct {
		ID, Name string
		Input    json.RawMessage
	}
	// Result answers a Call.
	Result struct {
		Call   string // the call's id
		Text   string
		Failed bool
	}
)

func (Text) part()     {}
func (Thinking) part() {}
func (Image) part()    {}
func (Call) part()     {}
func (Result) part()   {}

// Tool is what a model may call. Params is a JSON Schema.
type Tool struct {
	Name, Doc string
	Params    json.RawMessage
}

// Piece is a part of an answer that has just come: text, thinking, or a whole call.
type Piece struct {
	Text     string
	Thinking string
	Call     *Call
}

// Answer is all that a model answered.
type Answer struct {
	Parts []Part // in order: Text, Thinking, Call
	Stop  Stop
	Usage Usage
}

// Stop is why a model ended its answer.
type Stop string

// The reasons.
const (
	Ended     Stop = "ended"      // it was done
	WantsTool Stop = "wants_tool" // it waits for the results of its calls
	TooLong   Stop = "too_long"   // MaxTokens, or the provider's own limit
	Refused   Stop = "refused"    // it declines to answer
)

// Usage is what an answer cost, in tokens; Cached of Input were read from the provider's cache.
type Usage struct{ Input, Output, Cached int }

// Problem is why a question was not answered. Say is safe to show: it holds no key and nothing of the
// conversation. What can be done about it, and other languages, are to be had from In.
type Problem struct {
	Kind  ProblemKind
	Say   string
	After time.Duration // how long the provider asks to wait; 0 when it does not say
	Err   error         // for the operator; as safe as Say

	Provider, Model string // whom it is about
	Setting         string // where the key of that provider is set, for BadKey

	cut bool // the connection broke, which may be mended by asking again
}

// ProblemKind tells apart what a caller does something about.
type ProblemKind string

// The kinds.
const (
	BadKey     ProblemKind = "key"       // missing or refused: the operator must act
	NoModel    ProblemKind = "model"     // the provider does not have it, or it cannot do this
	NoCredit   ProblemKind = "credit"    // the account is used up
	Overfull   ProblemKind = "context"   // the conversation is too long for the model
	Declined   ProblemKind = "declined"  // the provider's rules refuse the question
	Overloaded ProblemKind = "busy"      // 429, 529 and 5xx that did not pass
	Silent     ProblemKind = "silent"    // no first byte, or no further one, in time
	Broken     ProblemKind = "broken"    // the stream was cut, or was no stream
	Unreached  ProblemKind = "unreached" // no connection
)

func (p Problem) Error() string { return p.In("en") }
func (p Problem) Unwrap() error { return p.Err }

// Is reports whether an error is a Problem of that kind.
func Is(err error, kind ProblemKind) bool {
	var p Problem
	return errors.As(err, &p) && p.Kind == kind
}
