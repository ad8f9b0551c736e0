package phrase

// Key names a phrase. The words behind a constant are its placeholders, in the order of Say's arguments.
type Key string

// What the host says on its own.
const (
	Sorry         Key = "sorry"         // a turn failed: neutral, without any detail
	CutOff        Key = "cutOff"        // a restart came between; the message has to be sent again
	LostReply     Key = "lostReply"     // whether the reply went out is not known
	InLine        Key = "inLine"        // ahead: how many are answered before
	EditedAtWork  Key = "editedAtWork"  // a message was edited while a turn works on it: what to do
	Busy          Key = "busy"          // too many wait already: this one was not taken
	NoAgent       Key = "noAgent"       // next: what the operator can do
	Stopped       Key = "stopped"       // /stop ended something
	NothingToStop Key = "nothingToStop" // /stop found nothing
	CommandFailed Key = "commandFailed" // command
	OwnerOnly     Key = "ownerOnly"     // command
)

// The help: a header, then a line for each command. The command itself is not part of its line.
const (
	HelpHeader   Key = "help.header"
	HelpHelp     Key = "help.help"
	HelpRemember Key = "help.remember"
	HelpRecall   Key = "help.recall"
	HelpMemories Key = "help.memories"
	HelpForget   Key = "help.forget"
	HelpExport   Key = "help.export"
	HelpClear    Key = "help.clear"
	HelpStop     Key = "help.stop"
	HelpStatus   Key = "help.status"
)

// What follows a command, as the help names it.
const (
	ArgText  Key = "arg.text"
	ArgWords Key = "arg.words"
	ArgID    Key = "arg.id"
)

// The answers of the memory commands.
const (
	Remembered    Key = "remembered"    // id
	Forgot        Key = "forgot"        // id
	Exported      Key = "exported"      // count, name of the file
	NothingFound  Key = "nothingFound"  // no memory matches, or there is none
	MemoryUnknown Key = "memoryUnknown" // id
	RememberUsage Key = "rememberUsage"
	RecallUsage   Key = "recallUsage"
	ForgetUsage   Key = "forgetUsage"
)

// What people and the owner read of pairing.
const (
	PairingOffer   Key = "pairing.offer"   // code, minutes: to a stranger
	PairingWelcome Key = "pairing.welcome" // to whoever was admitted
	PairingOff     Key = "pairing.off"     // what follows is for the owner
	PairUsage      Key = "pairing.usage"
	CodeUnknown    Key = "pairing.unknown" // wrong, used or too old: which of them is not told
	CodeTooMany    Key = "pairing.tooMany"
	PeopleFull     Key = "pairing.full"
	Paired         Key = "pairing.paired" // person
	NobodyAdmitted Key = "pairing.nobody"
	CodesWaiting   Key = "pairing.waiting" // codes: that wait to be used
	UnpairUsage    Key = "unpair.usage"
	PersonUnknown  Key = "unpair.unknown"
	Unpaired       Key = "unpair.done" // person

	HelpPair   Key = "help.pair"
	HelpPeople Key = "help.people"
	HelpUnpair Key = "help.unpair"
	ArgCode    Key = "arg.code"
)

// What people read of their conversations, where the desk goes on with them.
const (
	ThreadNew      Key = "thread.new"      // name
	ThreadSwitched Key = "thread.switched" // name
	ThreadRenamed  Key = "thread.renamed"  // name
	ThreadCurrent  Key = "thread.current"
	ThreadUnknown  Key = "thread.unknown"
	ThreadTaken    Key = "thread.taken"
	ThreadName     Key = "thread.name"

	HelpNew      Key = "help.new"
	HelpSessions Key = "help.sessions"
	HelpSwitch   Key = "help.switch"
	HelpRename   Key = "help.rename"
	ArgName      Key = "arg.name"
)

// What the page and the chat say while there is no agent.
const (
	AgentMissing Key = "agent.missing" // what is wrong
	AgentNext    Key = "agent.next"    // what to do about it
)

// What is said in a dry run.
const (
	DryRun      Key = "dryRun.agent" // in place of the agent's name
	DryRunReply Key = "dryRun.reply" // to whoever writes

	Reminder Key = "reminder" // message: what somebody wanted to be reminded of, where no agent would say it
)

// What the owner can do about a turn that failed.
const (
	NextLog       Key = "next.log"       // nothing is known but what the log says
	NextSignIn    Key = "next.signIn"    // agent: it wants its person to sign in
	NextBuiltin   Key = "next.builtin"   // agent: it was found and does not start, and our own could think
	NextKey       Key = "next.key"       // the provider refuses the key
	NextModel     Key = "next.model"     // it does not have the model
	NextCredit    Key = "next.credit"    // the account is used up
	NextContext   Key = "next.context"   // the conversation is too long
	NextDeclined  Key = "next.declined"  // its rules refuse the question
	NextSilent    Key = "next.silent"    // it ends its turns and never calls the tool that replies
	NextLater     Key = "next.later"     // it has too much to do, or its answer broke off
	NextUnreached Key = "next.unreached" // it cannot be reached
)

// What the owner learns of replies that a webhook could not deliver.
const (
	HelpDeadLetters Key = "help.deadLetters"
	HelpRedeliver   Key = "help.redeliver"
	ArgLetter       Key = "arg.letter" // an id, or the word all
	NoDeadLetters   Key = "letters.none"
	DeadLettersNext Key = "letters.next"
	RedeliverUsage  Key = "letters.usage"
	LetterUnknown   Key = "letters.unknown" // id
	Redelivering    Key = "letters.again"   // letters: how many
)

// The lines of /status.
const (
	StatusAgent    Key = "status.agent"    // agent
	StatusProvider Key = "status.provider" // provider
	StatusModel    Key = "status.model"    // model
	StatusOwnModel Key = "status.ownModel" // in place of StatusModel, where the agent chooses one itself
	StatusNoModel  Key = "status.noModel"  // in place of StatusModel, while it is not known yet
	StatusUptime   Key = "status.uptime"   // uptime
	StatusRooms    Key = "status.rooms"    // rooms: conversations in which a turn runs now
	StatusWaiting  Key = "status.waiting"  // waiting: messages that wait to be answered
	StatusLetters  Key = "status.letters"  // queued, dead: replies of the webhook
	StatusRestart  Key = "status.restart"  // keys: settings that a restart would apply
	StatusDue      Key = "status.due"      // job, at: what comes due by itself next
	StatusFailing  Key = "status.failing"  // times, job: what failed the last times that it ran
	StatusNotes    Key = "status.notes"    // notes: how many wait to be let in
)

// What the owner learns of notes that wait to be let in.
const (
	HelpNotes    Key = "help.notes"
	ArgNotes     Key = "arg.notes" // what to do, and the name of a note
	NotesNone    Key = "notes.none"
	NotesLine    Key = "notes.line" // name, at, sources: how many addresses were read for it
	NotesNext    Key = "notes.next"
	NotesUsage   Key = "notes.usage"
	NoteFrom     Key = "notes.from"     // name, at, session; the files and the addresses that were read stand below
	NoteText     Key = "notes.text"     // name: where its text can be read
	NoteAdmitted Key = "notes.admitted" // files
	NoteRejected Key = "notes.rejected" // name
	NoteUnknown  Key = "notes.unknown"  // name
)

// Questions to a person before something is done.
const (
	ApprovalAsk        Key = "approval.ask"        // tool; the arguments stand below
	ApprovalMore       Key = "approval.more"       // characters: how many of the arguments are not shown
	ApprovalYes        Key = "approval.yes"        // a button, and a word that answers
	ApprovalNo         Key = "approval.no"         // a button, and a word that answers
	ApprovalToday      Key = "approval.today"      // a button
	ApprovalWords      Key = "approval.words"      // yes, no: the commands, where there are no buttons
	ApprovalSaidYes    Key = "approval.saidYes"    // how a question ended
	ApprovalSaidNo     Key = "approval.saidNo"     //
	ApprovalSaidToday  Key = "approval.saidToday"  //
	ApprovalExpired    Key = "approval.expired"    //
	ApprovalWithdrawn  Key = "approval.withdrawn"  //
	ApprovalLate       Key = "approval.late"       // ending: somebody else, or the clock, was faster
	ApprovalGone       Key = "approval.gone"       // a button of a question that is not there
	ApprovalNotYours   Key = "approval.notYours"   // the question is for somebody else
	ApprovalResult     Key = "approval.result"     // tool, result
	ApprovalFailed     Key = "approval.failed"     // tool, why
	ApprovalCutOff     Key = "approval.cutOff"     // tool: a restart came between
	ApprovalUsage      Key = "approval.usage"      // command
	ApprovalUnknown    Key = "approval.unknown"    // id
	ApprovalNone       Key = "approval.none"       // nothing waits for an answer
	ApprovalLine       Key = "approval.line"       // id, tool, until
	ApprovalDay        Key = "approval.day"        // tool, command: what is not asked about again today, and what changes that
	ApprovalRemoved    Key = "approval.removed"    // tool
	ApprovalNotRemoved Key = "approval.notRemoved" // tool
	ApprovalOnPage     Key = "approval.onPage"     // a chat that cannot answer says where
	HelpYes            Key = "help.yes"
	HelpNo             Key = "help.no"
	HelpApprovals      Key = "help.approvals"
)

// What a chat in the terminal says.
const (
	ChatHint      Key = "chat.hint"      // which keys do what
	ChatGoingOn   Key = "chat.goingOn"   // title: of the conversation that goes on
	ChatThinking  Key = "chat.thinking"  // a turn runs
	ChatSeconds   Key = "chat.seconds"   // seconds: how long it has run
	ChatStopping  Key = "chat.stopping"  // it was asked to end
	ChatSending   Key = "chat.sending"   // a message has not reached the bot yet
	ChatFailed    Key = "chat.failed"    // a turn ended with an error
	ChatNotSent   Key = "chat.notSent"   // why
	ChatAway      Key = "chat.away"      // the bot cannot be reached
	ChatBack      Key = "chat.back"      // it can again
	ChatLeave     Key = "chat.leave"     // how to leave
	ChatEdited    Key = "chat.edited"    // a reply was changed
	ChatDeleted   Key = "chat.deleted"   // a reply was taken back
	ChatForgotten Key = "chat.forgotten" // some of the conversation is no longer kept
)

// keys lists every key with its placeholders.
var keys = map[Key][]string{
	Sorry: nil, CutOff: nil, LostReply: nil, InLine: {"ahead"}, EditedAtWork: nil, Busy: nil, NoAgent: {"next"},
	Stopped: nil, NothingToStop: nil, CommandFailed: {"command"}, OwnerOnly: {"command"},

	HelpHeader: nil, HelpHelp: nil, HelpRemember: nil, HelpRecall: nil, HelpMemories: nil, HelpForget: nil, HelpExport: nil,
	HelpClear: nil, HelpStop: nil, HelpStatus: nil,
	ArgText: nil, ArgWords: nil, ArgID: nil,

	Remembered: {"id"}, Forgot: {"id"}, Exported: {"count", "file"}, NothingFound: nil, MemoryUnknown: {"id"},
	RememberUsage: nil, RecallUsage: nil, ForgetUsage: nil,

	PairingOffer: {"code", "minutes"}, PairingWelcome: nil, PairingOff: nil, PairUsage: nil, CodeUnknown: nil,
	CodeTooMany: nil, PeopleFull: nil, Paired: {"person"}, NobodyAdmitted: nil, CodesWaiting: {"codes"},
	UnpairUsage: nil, PersonUnknown: nil, Unpaired: {"person"},
	HelpPair: nil, HelpPeople: nil, HelpUnpair: nil, ArgCode: nil,

	ThreadNew: {"name"}, ThreadSwitched: {"name"}, ThreadRenamed: {"name"}, ThreadCurrent: nil, ThreadUnknown: nil,
	ThreadTaken: nil, ThreadName: nil,
	HelpNew: nil, HelpSessions: nil, HelpSwitch: nil, HelpRename: nil, ArgName: nil,

	AgentMissing: nil, AgentNext: nil,

	DryRun: nil, DryRunReply: nil,

	Reminder: {"message"},

	NextLog: nil, NextSignIn: {"agent"}, NextBuiltin: {"agent"}, NextKey: nil, NextModel: nil, NextCredit: nil, NextContext: nil, NextDeclined: nil, NextLater: nil,
	NextSilent: nil, NextUnreached: nil,

	StatusAgent: {"agent"}, StatusProvider: {"provider"}, StatusModel: {"model"}, StatusOwnModel: nil, StatusNoModel: nil,
	StatusUptime: {"uptime"},
	StatusRooms:  {"rooms"}, StatusWaiting: {"waiting"}, StatusRestart: {"keys"}, StatusLetters: {"queued", "dead"},
	StatusDue: {"job", "at"}, StatusFailing: {"times", "job"}, StatusNotes: {"notes"},

	HelpNotes: nil, ArgNotes: nil, NotesNone: nil, NotesLine: {"name", "at", "sources"}, NotesNext: nil, NotesUsage: nil,
	NoteFrom: {"name", "at", "session"}, NoteText: {"name"}, NoteAdmitted: {"files"}, NoteRejected: {"name"}, NoteUnknown: {"name"},

	HelpDeadLetters: nil, HelpRedeliver: nil, ArgLetter: nil, NoDeadLetters: nil, DeadLettersNext: nil, RedeliverUsage: nil,
	LetterUnknown: {"id"}, Redelivering: {"letters"},

	ApprovalAsk: {"tool"}, ApprovalMore: {"characters"}, ApprovalYes: nil, ApprovalNo: nil, ApprovalToday: nil,
	ApprovalWords: {"yes", "no"}, ApprovalSaidYes: nil, ApprovalSaidNo: nil, ApprovalSaidToday: nil, ApprovalExpired: nil,
	ApprovalWithdrawn: nil, ApprovalLate: {"ending"}, ApprovalGone: nil, ApprovalNotYours: nil,
	ApprovalResult: {"tool", "result"}, ApprovalFailed: {"tool", "why"}, ApprovalCutOff: {"tool"},
	ApprovalUsage: {"command"}, ApprovalUnknown: {"id"}, ApprovalNone: nil, ApprovalLine: {"id", "tool", "until"},
	ApprovalDay: {"tool", "command"}, ApprovalRemoved: {"tool"}, ApprovalNotRemoved: {"tool"}, ApprovalOnPage: nil,
	HelpYes: nil, HelpNo: nil, HelpApprovals: nil,

	ChatHint: nil, ChatGoingOn: {"title"}, ChatThinking: nil, ChatSeconds: {"seconds"}, ChatStopping: nil,
	ChatSending: nil, ChatFailed: nil, ChatNotSent: {"why"}, ChatAway: nil, ChatBack: nil, ChatLeave: nil,
	ChatEdited: nil, ChatDeleted: nil, ChatForgotten: nil,
}
