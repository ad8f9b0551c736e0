package misskeytest

import "slices"

// Deed is a kind of thing that people see the bot do.
type Deed string

// The deeds. An edit is none: a note is deleted, and another is written.
const (
	Writes  Deed = "writes"
	Deletes Deed = "deletes"
	Reacts  Deed = "reacts"
)

// Act is something that the bot did and that was taken. What it was done to, as it was then, is a note or a message of a
// chat: the other one has no id. Emoji is that of a reaction.
type Act struct {
	Deed  Deed
	Note  Note
	Chat  ChatMessage
	Emoji string
}

// Acts is what the bot did so far, in order.
func (in *Instance) Acts() []Act {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.acts)
}

func (in *Instance) acted(a Act) { in.acts = append(in.acts, a) }
