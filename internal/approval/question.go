package approval

import (
	"crypto/rand"
	"encoding/json"
	"time"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

// Kind says what becomes of a yes.
type Kind string

// The kinds.
const (
	Deed Kind = "deed" // a tool of ours is run
	Wait Kind = "wait" // a turn that waits goes on
)

// State is how far a question came.
type State string

// The states.
const (
	Unasked   State = "open"
	Answered  State = "answered"
	Expired   State = "expired"
	Withdrawn State = "withdrawn" // its turn has ended, or it could not be shown
)

// Option is an answer.
type Option string

// The options.
const (
	Yes   Option = "yes"
	No    Option = "no"
	Today Option = "today" // yes, and not again today
)

// Question is one question. What would be done is frozen in it.
type Question struct {
	ID       string          `json:"id"`
	Kind     Kind            `json:"kind"`
	Tool     string          `json:"tool"`
	Schema   string          `json:"schema,omitempty"` // tool.Tool.Schema when it was asked
	Args     json.RawMessage `json:"args"`
	Ask      tool.Approval   `json:"ask"`
	Turn     chat.TurnID     `json:"turn"`
	From     chat.Person     `json:"from"` // who caused the turn
	Place    chat.Place      `json:"place"`
	Answers  chat.MessageID  `json:"answers,omitempty"` // what that turn answers
	Standing chat.Trust      `json:"standing"`          // of the turn when it asked
	Asked    time.Time       `json:"asked"`
	Deadline time.Time       `json:"deadline"`

	Revision int            `json:"revision"` // how often it was shown; only the buttons of the last time count
	Message  chat.MessageID `json:"message,omitempty"`
	Shown    time.Time      `json:"shown"`

	State  State        `json:"state"`
	Option Option       `json:"option,omitempty"`
	By     chat.Person  `json:"by"`
	Trust  chat.Trust   `json:"trust,omitempty"` // of whoever answered
	Event  chat.EventID `json:"event,omitempty"` // the answer
	Result string       `json:"result,omitempty"`
	Closed bool         `json:"closed,omitempty"` // what is shown says how it ended
}

// options are the answers that the question offers.
func (q Question) options() []Option {
	if q.Ask == tool.Once && q.Standing > chat.Foreign {
		return []Option{Yes, Today, No}
	}
	return []Option{Yes, No}
}

// mayAnswer reports whether somebody may answer: who caused the turn, or the owner.
func (q Question) mayAnswer(who chat.Person, trust chat.Trust) bool {
	return q.From.Same(who) || trust == chat.Owner
}

// question makes one for a turn.
func (a *Approvals) question(kind Kind, t chat.Turn, name string, args json.RawMessage) Question {
	limit := DeedTime
	if kind == Wait {
		limit = WaitTime
	}
	now := a.deps.Now()
	return Question{ID: newID(6), Kind: kind, Tool: name, Args: args, Turn: t.ID, From: t.From, Place: t.Place,
		Answers: t.Answers(), Standing: t.Standing.Now(), Asked: now, Deadline: now.Add(limit), State: Unasked}
}

// letters are those of an id that somebody may have to type.
const letters = "abcdefghjkmnpqrstuvwxyz23456789"

// newID mints an id of n letters.
func newID(n int) string {
	id := make([]byte, 0, n)
	for len(id) < n {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
		for _, c := range b {
			if int(c) < 256-256%len(letters) && len(id) < n {
				id = append(id, letters[int(c)%len(letters)])
			}
		}
	}
	return string(id)
}
