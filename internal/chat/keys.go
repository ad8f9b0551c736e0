package chat

// The keys of log attributes. Every logger uses these, so that one thing has one name.
const (
	KeyEvent    = "event"
	KeyTurn     = "turn"
	KeySession  = "session"
	KeyPlace    = "place"
	KeyPerson   = "person"
	KeyPlatform = "platform"
	KeyTool     = "tool"
	KeyRule     = "rule"
	KeyTook     = "took"
	KeyErr      = "err"
)
