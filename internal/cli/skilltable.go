package cli

// kind says how the value of a flag becomes a parameter.
type kind int

const (
	word    kind = iota // a short text that no person wrote: an id, a choice, an emoji
	number              // a whole number
	each                // one text of a list; may be repeated
	list                // words with commas between them; may be repeated
	yes                 // a switch that sets the parameter to true
	no                  // a switch that sets the parameter to false
	payload             // free text, by file or standard input
)

// skillFlag is one flag of a skill. A payload's flag is NAME-file; NAME itself, with its short form, is the old
// way that put the text on the command line, and is refused.
type skillFlag struct {
	name, short string
	param       string
	kind        kind
	required    bool
	doc         string
}

// skillSpec is one skill as the command line knows it.
type skillSpec struct {
	name, doc string
	flags     []skillFlag
	example   string // what follows «familiar skill »
}

// skillTable is the one list of skills and their flags. Parameters and their meaning are the tools'.
func skillTable() []skillSpec {
	importance := skillFlag{"importance", "i", "importance", word, false, "high or normal"}
	related := skillFlag{"related-to", "", "relatedTo", list, false, "ids of related memories, with commas"}
	supersedes := skillFlag{"supersedes", "", "supersedes", list, false, "ids of memories that this one replaces, with commas"}
	message := skillFlag{"message", "m", "message", payload, true, "the text"}
	return []skillSpec{
		{"memory-save", "Keep something about the person", []skillFlag{
			{"content", "c", "content", payload, true, "what to remember"}, importance, related, supersedes,
		}, `memory-save --content-file "$TMPDIR/memory.txt" --importance high`},
		{"memory-search", "Find what was kept", []skillFlag{
			{"query", "q", "query", payload, true, "the words to look for"},
			{"limit", "", "limit", number, false, "the most results"},
			{"since", "", "since", word, false, "only what was saved on that day or later, as in 2026-01-31"},
			{"until", "", "until", word, false, "only what was saved on that day or earlier"},
		}, `memory-search --query-file "$TMPDIR/query.txt" --limit 5`},
		{"memory-patch", "Change the state of a memory", []skillFlag{
			{"memory-id", "m", "memory_id", word, true, "the memory's id"},
			{"enabled", "", "enabled", yes, false, "use the memory again"},
			{"disabled", "", "enabled", no, false, "stop using the memory"},
			{"visibility", "", "visibility", word, false, "public or private"}, importance, related, supersedes,
		}, `memory-patch --memory-id mem_abc_123456 --disabled`},
		{"memory-stats", "Count what was kept", nil, `memory-stats`},
		{"memory-export", "Send the person all that was kept, as a file to them alone", []skillFlag{
			{"format", "f", "format", word, false, "markdown or json"},
			{"importance", "", "importance", word, false, "high, normal or all"},
			{"enabled-only", "", "enabled_only", yes, false, "only what is in use, as when left out"},
			{"no-enabled-only", "", "enabled_only", no, false, "what is no longer used, too"},
		}, `memory-export --format json`},
		{"send-reply", "Answer the person, once", []skillFlag{message},
			`send-reply --message-file "$TMPDIR/reply.txt"`},
		{"send-file", "Send files of your workspace", []skillFlag{
			{"file-paths", "f", "filePaths", each, true, "a file inside your workspace or $TMPDIR; may be repeated"},
			{"caption", "", "caption", payload, false, "a few words that go with the files"},
		}, `send-file --file-paths chart.png --file-paths data.csv --caption-file "$TMPDIR/caption.txt"`},
		{"edit-reply", "Change the answer that was sent", []skillFlag{
			{"message-id", "", "messageId", word, true, "the id that send-reply gave"}, message,
		}, `edit-reply --message-id 42 --message-file "$TMPDIR/reply.txt"`},
		{"react-message", "Put an emoji on the person's message", []skillFlag{
			{"emoji", "e", "emoji", word, true, "the emoji"},
		}, `react-message --emoji 👍`},
		{"get-message", "Read one message", []skillFlag{
			{"message-id", "", "messageId", word, false, "the message's id; left out: your last reply"},
		}, `get-message --message-id 42`},
		{"fetch-context", "Read more of the conversation", []skillFlag{
			{"type", "t", "type", word, true, "recent_messages, search_messages or user_info"},
			{"query", "q", "query", payload, false, "the words to look for, for search_messages"},
			{"limit", "", "limit", number, false, "the most messages"},
		}, `fetch-context --type recent_messages --limit 30`},
		{"set-reminder", "Remind the person later, in their direct messages", []skillFlag{
			{"scheduled-at", "", "scheduledAt", word, true, "when, in ISO 8601"}, message,
		}, `set-reminder --scheduled-at 2026-03-01T09:00:00+01:00 --message-file "$TMPDIR/reminder.txt"`},
		{"cancel-reminder", "Take a reminder back", []skillFlag{
			{"reminder-id", "", "reminderId", word, true, "the reminder's id"},
		}, `cancel-reminder --reminder-id rem_abc_123456`},
		{"read-page", "Read a page of the public internet as text, in a session of research", []skillFlag{
			{"url", "u", "url", word, true, "the address"},
		}, `read-page --url https://example.org/article`},
		{"read-note", "Read a note, in a session of research", []skillFlag{
			{"path", "", "path", word, false, "as in notes/tea-in-japan.md; left out: the list of notes"},
		}, `read-note --path notes/tea-in-japan.md`},
		{"write-note", "Write a note, in a session of research", []skillFlag{
			{"path", "", "path", word, true, "as in notes/tea-in-japan.md"},
			{"content", "c", "content", payload, true, "the note, in Markdown"},
		}, `write-note --path notes/tea-in-japan.md --content-file "$TMPDIR/note.md"`},
		{"list-reminders", "List the person's reminders", nil, `list-reminders`},
	}
}
