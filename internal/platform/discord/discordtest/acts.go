package discordtest

import "slices"

// Deed is a kind of thing that people see the bot do.
type Deed string

// The deeds.
const (
	Says    Deed = "says"
	Edits   Deed = "edits"
	Deletes Deed = "deletes"
	Reacts  Deed = "reacts"
)

// Act is something that the bot did and that was taken: Message is what it was done to, as it was then. Emoji is that of
// a reaction; one of a server is NAME:ID.
type Act struct {
	Deed    Deed
	Message Message
	Emoji   string
}

// Acts is what the bot did so far, in order.
func (s *Server) Acts() []Act {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.acts)
}

// acted keeps an act. The lock is held.
func (s *Server) acted(d Deed, m *Message, emoji string) { s.acts = append(s.acts, Act{d, *m, emoji}) }
