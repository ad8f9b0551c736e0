package briefing

import "strconv"

// Vars are the variables of prompts. Values are put in as they are: what people said cannot become a template.
type Vars struct {
	// The session.
	IsDm                   bool
	Platform               string
	PlaceKind              string
	UserID                 string
	ChannelID              string
	GuildID                string
	SessionID              string
	AgentType              string
	TmpDir                 string // the agent's temporary folder, "" when it has none
	Model                  string
	Yolo                   bool
	CanWriteAgentWorkspace bool
	Now                    string // local date and time, with the zone

	// The bot.
	BotName  string // "" for the name in character_name.md
	Persona  string // "" for the character_….md files
	Language string // what to answer in when it is not clear

	// The turn.
	PlatformNotes      string // how to write for the platform
	ContextMark        string // a word that nobody could know, around the context block
	UserContextMessage string // the context block itself
	Rejections         string // what the agent was refused lately, for the second try

	// A session that nobody's message began; see Errand.
	errand                                             Errand
	recentMessagesFetched                              bool
	importantMemories, recentMessages, availableEmojis string
}

// value is a variable's text, and whether an if takes it for true.
type value struct {
	text string
	set  bool
}

func text(s string) value { return value{s, s != ""} }
func truth(b bool) value  { return value{strconv.FormatBool(b), b} }

// find returns the variable of that name; false when there is none.
func (v Vars) find(name string) (value, bool) {
	read, ok := variables[name]
	if !ok {
		return value{}, false
	}
	return read(v), true
}

// variables names every variable as prompts write it.
var variables = map[string]func(Vars) value{
	"isDm":                   func(v Vars) value { return truth(v.IsDm) },
	"platform":               func(v Vars) value { return text(v.Platform) },
	"placeKind":              func(v Vars) value { return text(v.PlaceKind) },
	"userId":                 func(v Vars) value { return text(v.UserID) },
	"channelId":              func(v Vars) value { return text(v.ChannelID) },
	"guildId":                func(v Vars) value { return text(v.GuildID) },
	"sessionId":              func(v Vars) value { return text(v.SessionID) },
	"agentType":              func(v Vars) value { return text(v.AgentType) },
	"tmpDir":                 func(v Vars) value { return text(v.TmpDir) },
	"model":                  func(v Vars) value { return text(v.Model) },
	"yolo":                   func(v Vars) value { return truth(v.Yolo) },
	"canWriteAgentWorkspace": func(v Vars) value { return truth(v.CanWriteAgentWorkspace) },
	"now":                    func(v Vars) value { return text(v.Now) },
	"botName":                func(v Vars) value { return text(v.BotName) },
	"persona":                func(v Vars) value { return text(v.Persona) },
	"language":               func(v Vars) value { return text(v.Language) },
	"platformNotes":          func(v Vars) value { return text(v.PlatformNotes) },
	"contextMark":            func(v Vars) value { return text(v.ContextMark) },
	"userContextMessage":     func(v Vars) value { return text(v.UserContextMessage) },
	"rejections":             func(v Vars) value { return text(v.Rejections) },

	"recentMessagesFetched": func(v Vars) value { return truth(v.recentMessagesFetched) },
	"importantMemories":     func(v Vars) value { return text(v.importantMemories) },
	"recentMessages":        func(v Vars) value { return text(v.recentMessages) },
	"availableEmojis":       func(v Vars) value { return text(v.availableEmojis) },
	"workspaceKey":          func(v Vars) value { return text(oneLine(v.errand.WorkspaceKey)) },
	"memoriesDump":          func(v Vars) value { return text(v.errand.MemoriesDump) },
	"minMemoryCount":        func(v Vars) value { return text(strconv.Itoa(v.errand.MinMemoryCount)) },
	"rssItems":              func(v Vars) value { return text(v.errand.RSSItems) },
	"reminderMessage":       func(v Vars) value { return text(block(v.errand.ReminderMessage)) },
	"reminderCreatedAt":     func(v Vars) value { return text(v.errand.ReminderCreatedAt) },
	"reminderScheduledAt":   func(v Vars) value { return text(v.errand.ReminderScheduledAt) },
}
