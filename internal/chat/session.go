package chat

// SessionType says why an agent session is opened; it is also its word in the rules of the model router and in the
// audit.
type SessionType string

// The types of session.
const (
	MessageSession     SessionType = "message"            // somebody spoke to us
	LurkSession        SessionType = "channelLurk"        // we join a conversation of others
	SpontaneousSession SessionType = "spontaneous"        // we post on our own
	ResearchSession    SessionType = "self-research"      // we read what interests us
	UpkeepSession      SessionType = "memory-maintenance" // we tidy what we remember
	ReminderSession    SessionType = "reminder"           // a reminder came due
)

// SessionTypes returns every type of session.
func SessionTypes() []SessionType {
	return []SessionType{MessageSession, LurkSession, SpontaneousSession, ResearchSession, UpkeepSession, ReminderSession}
}

// SessionType says what an agent's session for this turn is for.
func (t Turn) SessionType() SessionType {
	ev, _ := t.Trigger()
	if woke, ok := ev.Body.(Woke); ok {
		return woke.Job
	}
	return MessageSession
}

// TurnKind says what kind of turn an event begins.
func (e Event) TurnKind() TurnKind {
	if _, woke := e.Body.(Woke); woke {
		return Wake
	}
	return Talk
}
