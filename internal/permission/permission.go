// Package permission decides what an agent may do with its own tools: the answer to its permission requests. The
// rules look at what the request says and at where its paths really lead; they keep nothing and ask nobody. What
// they allow is still behind the walls of package workspace, so they are the second door and not the only one.
//
// Everything that no rule allows is refused, and a request that cannot be understood whole is not understood.
package permission

import (
	"path/filepath"
	"slices"

	"familiar/internal/agent"
)

// The reasons of verdicts, as audit has them.
const (
	Yolo             = "yolo_mode"
	SkillsDirectory  = "skills_directory_access"
	WorkspaceRead    = "workspace_read_access"
	SkillCommand     = "skill_whitelist"
	RegisteredSkill  = "registered_skill"
	WorkspaceWrite   = "agent_workspace_write"
	NotesClosed      = "rejected_agent_workspace_write_unauthorized"
	WrongExtension   = "rejected_write_extension"
	WriteElsewhere   = "rejected_edit_write"
	NothingAllowedIt = "rejected_unknown"
)

// Verdict is a decision and its reason, one of the constants.
type Verdict struct {
	Allow  bool
	Reason string
}

// Policy is what one session may do. The zero Policy allows nothing. Folders are absolute and free of links.
type Policy struct {
	Yolo bool // everything; the walls hold all the same

	Binary   string   // our own executable, resolved; its folder is the first of the agent's PATH
	Skills   []string // the skills, and tools of ours, that the session may use
	Commands []string // further skills, whose program of the same name may be run
	Server   string   // by which name the agent knows our MCP server; "" is "familiar"

	Dir       string   // where the agent stands: relative paths count from there
	SkillDirs []string // folders with skills, to read
	ReadDirs  []string // further folders to read; those that may be written need not be listed

	Tmp             string   // the session's temporary folder: any file may be written
	Notes           string   // the agent workspace: always to read
	WriteNotes      bool     // and to write
	WriteDirs       []string // further folders to write
	WriteExtensions []string // endings of what may be written, with the dot; below Tmp any may
}

// Judge decides about one request.
func (p Policy) Judge(ask agent.Ask) Verdict {
	if p.Yolo {
		return Verdict{true, Yolo}
	}
	in, ok := parse(ask.RawInput)
	if !ok {
		return Verdict{false, NothingAllowedIt}
	}
	paths := append(slices.Clone(ask.Paths), in.paths...)
	switch ask.Kind {
	case agent.KindExecute:
		if p.skillCommand(in) {
			return Verdict{true, SkillCommand}
		}
	case agent.KindEdit:
		return p.judgeWrite(paths)
	case agent.KindRead, agent.KindSearch:
		return p.judgeRead(paths)
	case agent.KindOther, "":
		if in.opensFolder() {
			return p.judgeRead(paths)
		}
		if len(ask.Paths) == 0 && len(in.commands) == 0 && p.ourTool(ask.Title) {
			return Verdict{true, RegisteredSkill}
		}
	case agent.KindDelete, agent.KindMove, agent.KindFetch, agent.KindThink: // no rule allows these
	}
	return Verdict{false, NothingAllowedIt}
}

// judgeRead allows what lies, all of it, in folders that may be read.
func (p Policy) judgeRead(paths []string) Verdict {
	readable := slices.Concat(p.ReadDirs, p.WriteDirs, []string{p.Dir, p.Tmp, p.Notes})
	switch {
	case p.allWithin(paths, p.SkillDirs):
		return Verdict{true, SkillsDirectory}
	case p.allWithin(paths, slices.Concat(p.SkillDirs, readable)):
		return Verdict{true, WorkspaceRead}
	}
	return Verdict{false, NothingAllowedIt}
}

// judgeWrite allows what may be written, all of it.
func (p Policy) judgeWrite(paths []string) Verdict {
	if !p.allWithin(paths, slices.Concat(p.WriteDirs, []string{p.Tmp, p.Notes})) {
		return Verdict{false, WriteElsewhere}
	}
	for _, path := range paths {
		real, ok := p.resolve(path)
		switch inTmp := ok && within(p.Tmp, real); {
		case !ok:
			return Verdict{false, WriteElsewhere}
		case slices.Contains(ours, filepath.Base(real)):
			return Verdict{false, WriteElsewhere}
		case inTmp:
			continue
		case within(p.Notes, real) && !p.WriteNotes:
			return Verdict{false, NotesClosed}
		case !slices.Contains(p.WriteExtensions, filepath.Ext(real)):
			return Verdict{false, WrongExtension}
		}
	}
	return Verdict{true, WorkspaceWrite}
}

// ours are files that only their skills write, wherever they lie.
var ours = []string{"memory.public.jsonl", "memory.private.jsonl", "reminders.jsonl"}

// ourTool reports whether a title is exactly one of the names by which agents call a tool of ours.
func (p Policy) ourTool(title string) bool {
	server := p.Server
	if server == "" {
		server = "familiar"
	}
	return slices.ContainsFunc(p.Skills, func(name string) bool {
		return name != "" && slices.Contains([]string{
			name, server + "_" + name, "mcp__" + server + "__" + name, server + "." + name,
		}, title)
	})
}
