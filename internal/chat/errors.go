package chat

import "errors"

// UserError is an error with words for the person in the chat. Say is the only text of an error that may reach
// a chat; everything else becomes one neutral sentence. Say is already in the bot's language.
type UserError struct {
	Say string
	Err error
}

func (e UserError) Error() string {
	if e.Err == nil {
		return e.Say
	}
	return e.Err.Error()
}

func (e UserError) Unwrap() error { return e.Err }

// ErrStopped is the cause of a turn that a person ended.
var ErrStopped = errors.New("stopped by a person")

// ErrRecalled is the cause of a turn whose messages were all taken back before it had let anything out.
var ErrRecalled = errors.New("the message was taken back")

// ErrShutdown is the cause of a turn that was ended because the program leaves.
var ErrShutdown = errors.New("shutting down")

// ErrTooLong is the cause of a turn that ran out of its time.
var ErrTooLong = errors.New("the turn took too long")
