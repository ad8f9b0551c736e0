// Package profile says what we know of the agents that speak the Agent Client Protocol: one file for each, and in
// it data. How to find and start it, how to make it ask before it does anything, which files keep it signed in, and
// what is odd about it. It starts nothing and knows nothing of the protocol; package acp does with a profile what
// the profile says, and has no word about any one agent of its own.
package profile

import (
	_ "embed"
	"encoding/json"
	"strings"
	"time"
)

// Profile is what we know of one kind of agent.
type Profile struct {
	ID      string   // the word of agent.id
	Name    string   // for people
	Command string   // the executable, as a path or a name on PATH
	Args    []string // what makes it speak ACP on its standard streams
	Node    int      // the least major version of Node.js that it runs on; 0 when it brings what it runs on

	// Env is added to the environment; "{home}" stands for the session's private HOME and "{tmp}" for its temporary
	// folder, in it and in Args. RootEnv is added too where we run as root.
	Env, RootEnv map[string]string
	// Files are laid into the private HOME, by their path below it.
	Files map[string][]byte
	// Logins are files below the operator's own HOME that are laid read-only at the same place of the private
	// one, so that an agent that is signed in stays signed in. Those that do not exist are skipped.
	Logins []string
	// Skills is the folder below the private HOME where the agent looks for folders with a SKILL.md; "" when it
	// knows none.
	Skills string
	// Rights are files and folders below the working directory in which the agent would find settings of its own.
	// They are removed before it starts: what an agent wrote there in an earlier session gives it no rights.
	Rights []string
	// Meta goes along with the opening of a session, as its _meta; nil for none.
	Meta json.RawMessage
	// SignIn is the way of signing in that is chosen before a session is opened; "" when none has to be.
	SignIn string

	// Restricted says that the agent was seen to ask us before it runs, edits or fetches anything, whatever lies
	// in its working directory. An agent without that is never chosen by itself, and announced as unrestricted.
	Restricted bool
	Mode       string // the restricted mode, "" when that is what the agent starts in
	Yolo       string // the mode in which it asks nobody; "" when it has none

	Oddities
}

// Oddities are where an agent is not like others. The zero value is an agent that is as one would think.
type Oddities struct {
	FilesThroughUs bool // it is offered our fs, and reads and writes through us
	GitHub         bool // it signs in with GITHUB_TOKEN
	IgnoresEOF     bool // it does not end when its standard input closes, so it is told by a signal at once
	RetryEmpty     bool // it answers the prompt after a cancelled one with an empty turn; that prompt is sent again

	// LostWhenCancelled says that it may never end a turn that was cancelled while it asked for permission, nor
	// any turn after it. Such a process has this long, and is ended then; 0 gives it the time that others have.
	LostWhenCancelled time.Duration
	// Warnings are how pieces of words begin that are its own warnings about itself, and nobody's answer.
	Warnings []string
	// CommandInTitle says that a request to run something has the whole command as its title, and no input.
	CommandInTitle bool
	// OurTool is how it titles the call of a tool of ours, with {tool} for the tool's name, where that is not one of
	// the common ways: in the request for permission, or in the call that was shown before it.
	OurTool string
	// ErrorIn are the keys under which the data of its errors hold what went wrong; the message alone says
	// nothing then. Most agents put the whole request into their data, so nothing else of it is ever looked at.
	ErrorIn []string
}

// Operator is whoever runs the bot, as far as an agent's profile depends on them.
type Operator struct {
	Home   string   // their own HOME; "" for none
	Parent []string // our environment, KEY=value
	Keys   []string // the variables that the agent will have: those of model providers' keys are among them
	Model  string   // the model that was asked for; "" for none
}

// known is a line of the table.
type known struct {
	id, name, command string
	build             func(Operator) (Profile, error)
}

// table is every agent that we know, in the order in which `auto` looks for them.
func table() []known {
	return []known{
		{"opencode", "OpenCode", "opencode", openCode},
		{"claude", "Claude Code", "claude-agent-acp", claude},
		{"codex", "Codex", "codex-acp", codex},
		{"gemini", "Gemini CLI", "gemini", gemini},
		{"qwen", "Qwen Code", "qwen", qwen},
		{"copilot", "GitHub Copilot", "copilot", copilot},
		{"kimi", "Kimi CLI", "kimi", kimi},
		{"pi", "pi", "pi-acp", pi},
	}
}

// IDs returns the words of all agents that we know, in the order in which `auto` looks for them.
func IDs() []string {
	var ids []string
	for _, k := range table() {
		ids = append(ids, k.id)
	}
	return ids
}

// Build makes the profile of an agent that we know. An error says what of the operator's own configuration cannot
// be read. An id that is not one of IDs is an error of whoever checked the configuration, and gives a profile
// without a command.
func Build(id string, o Operator) (Profile, error) {
	for _, k := range table() {
		if k.id != id {
			continue
		}
		p, err := k.build(o)
		p.ID, p.Name, p.Command = k.id, k.name, k.command
		return p, err
	}
	return Profile{}, nil
}

// has reports whether a variable is among those of keys.
func (o Operator) has(names ...string) bool {
	for _, key := range o.Keys {
		for _, name := range names {
			if key == name {
				return true
			}
		}
	}
	return false
}

// ModeFor returns the agent's name of a mode of ours: "" is the restricted one, "yolo" the one that asks nobody.
func (p Profile) ModeFor(mode string) string {
	switch mode {
	case "":
		return p.Mode
	case Yolo:
		if p.Yolo != "" {
			return p.Yolo
		}
	}
	return mode
}

// ToolIn returns the tool of ours that a title names in the profile's way; "" when it names none.
func (p Profile) ToolIn(title string) string {
	before, after, ok := strings.Cut(p.OurTool, "{tool}")
	if !ok {
		return ""
	}
	rest, ok := strings.CutPrefix(title, before)
	name, ok2 := strings.CutSuffix(rest, after)
	if !ok || !ok2 {
		return ""
	}
	return name
}

// Yolo is our name of the mode in which an agent asks nobody.
const Yolo = "yolo"

// Skills is where agents of several makers look for skills.
const Skills = ".agents/skills"

// words are what every agent that takes them is told about where it is.
//
//go:embed agent.md
var words []byte

// At fills the session's private HOME and its temporary folder into what has to name them.
func At(home, tmp, text string) string {
	return strings.NewReplacer("{home}", home, "{tmp}", tmp).Replace(text)
}
