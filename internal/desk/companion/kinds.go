package companion

import (
	"errors"
	"slices"

	"familiar/internal/chat"
)

// kind says how sessions of one type differ from others (air-friends spec §4.1).
type kind struct {
	// answers is set where a session has succeeded when somebody has seen something, and is prompted once more when
	// nobody has; the others have succeeded when the agent ends its turn.
	answers bool
	errand  bool     // it is told what it is for, since no message is
	notes   bool     // it may write the shared notes
	tools   []string // what it gets of the desk's tools; nil: all of those for conversations
}

// The tools of sessions that speak to nobody, beyond which they have none.
var (
	researchTools = []string{"read-page", "read-note", "write-note"}
	upkeepTools   = []string{"memory-save", "memory-search", "memory-patch"}
)

// kindOf is the table of session types.
func kindOf(t chat.SessionType) kind {
	switch t {
	case chat.MessageSession, chat.LurkSession:
		return kind{answers: true}
	case chat.SpontaneousSession, chat.ReminderSession:
		return kind{answers: true, errand: true}
	case chat.ResearchSession:
		return kind{errand: true, notes: true, tools: researchTools}
	case chat.UpkeepSession:
		return kind{errand: true, tools: upkeepTools}
	}
	return kind{errand: true} // nobody knows what for, so there will be no errand
}

// ErrNothing is what Errand returns where there is nothing to do after all. The turn ends well, without an agent.
var ErrNothing = errors.New("there is nothing to do")

// ErrSilent is how a turn fails whose agent was prompted twice and let nothing reach the person.
var ErrSilent = errors.New("the agent ended its turn twice without a reply")

// ToolsOf are the tools of a session of a type, where conversations have those of talk.
func ToolsOf(t chat.SessionType, talk []string) []string {
	if k := kindOf(t); k.tools != nil {
		return slices.Clone(k.tools)
	}
	return talk
}

// WritesNotes reports whether a session of a type does.
func WritesNotes(t chat.SessionType) bool { return kindOf(t).notes }
