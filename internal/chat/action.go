package chat

import "time"

// Action is one thing that we want done on a platform. The set is closed: the types of this file. Only the
// outbox hands an action to a platform.
type Action interface{ Where() Place }

type (
	// Say posts one message. Text already fits the platform; Key is the idempotency key: a platform whose
	// Abilities say Idempotent posts a key once, however often it is asked.
	Say struct {
		Place   Place
		Text    string
		ReplyTo MessageID // the message it answers; empty for none
		Key     string
		Turn    TurnID
	}
	// Edit changes the text of a message of ours. On platforms that can only recreate, the receipt has a new id
	// and ReplyTo is the anchor of the recreated message.
	Edit struct {
		Place   Place
		Message MessageID
		Text    string
		ReplyTo MessageID
	}
	// Delete takes a message of ours back.
	Delete struct {
		Place   Place
		Message MessageID
	}
	// React puts an emoji on a message.
	React struct {
		Place   Place
		Message MessageID
		Emoji   string
	}
	// SendFile posts files as one message where the platform can, with Text as the caption.
	SendFile struct {
		Place   Place
		Files   []File
		Text    string
		ReplyTo MessageID
		Key     string
	}
	// Typing shows for some seconds that an answer is being written. It is lossy.
	Typing struct{ Place Place }
	// Ask posts a question with buttons; where there are none, Words say how to answer it, below Text. Key is as in Say.
	Ask struct {
		Place   Place
		Text    string
		Words   string
		Options []Option
		ReplyTo MessageID // the message that the asking turn answers; empty for none
		Key     string
		Turn    TurnID // the turn that asks
	}
	// Show tells what a turn is doing, on platforms whose Abilities say Progress. It is lossy on a slow
	// platform, and holds no words of anybody. Answers is the message that the turn is about.
	Show struct {
		Place    Place
		Turn     TurnID
		Answers  MessageID
		Progress Progress
	}
)

// Where returns the place that the action happens in.
func (a Say) Where() Place      { return a.Place }
func (a Edit) Where() Place     { return a.Place }
func (a Delete) Where() Place   { return a.Place }
func (a React) Where() Place    { return a.Place }
func (a SendFile) Where() Place { return a.Place }
func (a Typing) Where() Place   { return a.Place }
func (a Ask) Where() Place      { return a.Place }
func (a Show) Where() Place     { return a.Place }

// File is a local file to send. Path was checked by whoever made the action.
type File struct {
	Path string
	Name string
	MIME string
	Size int64 // bytes; 0 when whoever made the action does not know
}

// Option is one answer that a question offers. ID is short and opaque; Label is what the person reads.
type Option struct{ ID, Label string }

// Stage is a point in the life of a turn.
type Stage string

// The stages, in the order in which they may come. Tool stages repeat.
const (
	TurnStarted   Stage = "turn.started"
	ToolStarted   Stage = "actions.requested"
	ToolEnded     Stage = "action.result"
	TurnCompleted Stage = "turn.completed"
	TurnFailed    Stage = "turn.failed"
	TurnCancelled Stage = "turn.cancelled"
)

// Progress is what a turn is doing now. Tool and OK are for the tool stages; Tool is a name, never arguments.
// Reason and Next are for TurnFailed, and are set only where nobody but the owner reads them: why it failed, short
// and without secrets, and what the owner can do about it, in the bot's language.
type Progress struct {
	Stage Stage
	Tool  string
	OK    bool

	Reason, Next string
}

// Receipt says what a platform did. Message is the id of the (last) message that it concerns.
type Receipt struct {
	Message MessageID `json:"message,omitempty"`
	At      time.Time `json:"at"`
}

// Unit is what a platform counts the length of a text in.
type Unit string

// The units.
const (
	Runes Unit = "runes" // Unicode code points
	UTF16 Unit = "utf16" // UTF-16 code units
	Bytes Unit = "bytes" // bytes of UTF-8
)

// Abilities says, as data, what a platform can take. The outbox fits every action to it.
type Abilities struct {
	MaxText int  // the longest text of one message, in Unit, after Render; 0 means no limit
	Unit    Unit // "" means Runes

	// Render turns our Markdown into what is sent, so that the outbox can measure it; nil: as it is. Pure.
	Render func(string) string

	MaxFiles     int   // the most files of one message; 0 means no limit
	MaxFileBytes int64 // the most that they are together, in bytes; 0 means no limit

	Edit, Delete, React, Typing, Buttons, Files bool
	Threaded                                    bool // a message that answers none stands alone: each part of a reply answers
	Chains                                      bool // a message of ours may answer another one of ours
	Progress                                    bool // takes Show
	Idempotent                                  bool // a repeated Key is posted once
	Search                                      bool // its Historian can search
	Redelivers                                  bool // it brings an event again that was answered with Busy

	Remembers time.Duration // how long a posted Key is surely known; 0 means without end

	// Places says what one place can take, where that is not the same everywhere; nil: it is. Pure. See In.
	Places func(Place) Abilities
}

// In returns what can be done in a place.
func (a Abilities) In(p Place) Abilities {
	if a.Places == nil {
		return a
	}
	return a.Places(p)
}
