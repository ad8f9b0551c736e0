package host

import (
	"path/filepath"
	"slices"

	"familiar/internal/briefing"
	"familiar/internal/chat"
	"familiar/internal/desk"
	"familiar/internal/desk/companion"
	"familiar/internal/permission"
	"familiar/internal/tool"
	"familiar/internal/workspace"
)

// openDesk is the table of desks; the configuration was checked, so that companion is the only one.
func (h *Host) openDesk() desk.Desk {
	if h.Desk != nil {
		return h.Desk(h.threads)
	}
	bot := briefing.Bot{Name: h.cfg.Bot.Name, Language: h.cfg.Bot.Language, Zone: h.cfg.Bot.Zone(),
		Prompts: h.Loaded.Path(h.cfg.Bot.Prompts)}
	return companion.New(companion.Deps{
		Agent: h.agent, Model: h.model, Box: h.box, Tools: h.toolNames(),
		Briefer: briefing.New(h.cfg.Agent.Briefing, bot, h.log.With("module", "Briefing")),
		Sources: h.sources(), Audit: h.audit, Now: h.now, Log: h.log.With("module", "Companion"), Errand: h.errand, Notes: h.lendNotes,
		Session: h.session, Policy: h.policy, Ask: h.mayAsk, Yolo: h.yolo, Limited: h.gate.Limited, Deeds: h.outbox.Deeds, Show: h.show,
	})
}

// session is the id of a turn's session. An agent in a process of its own may have one waiting.
func (h *Host) session(t chat.Turn) string {
	if h.external == nil {
		return tool.NewSession(h.now())
	}
	return h.external.Session(workspace.Ref{Platform: t.From.Platform, User: t.From.ID}, t.Place.Kind)
}

// companionTools are what a companion's agent may call.
var companionTools = []string{"memory-save", "memory-search", "memory-patch", "memory-stats", "memory-export", "send-reply", "edit-reply",
	"react-message", "get-message", "fetch-context"}

// toolNames are the same, with those that the host was made with.
func (h *Host) toolNames() []string {
	names := slices.Clone(companionTools)
	for _, t := range slices.Concat(h.files.Tools(), h.reminding.Tools(), h.Options.Tools) {
		names = append(names, t.Name)
	}
	return names
}

// policy is what the agent may do with its own tools in a session. Where the person's folder cannot be had, that
// is nothing; the session will not open either.
func (h *Host) policy(t chat.Turn, session string, yolo bool) permission.Policy {
	what := t.SessionType()
	at, err := h.folders.Paths(workspace.Ref{Platform: t.From.Platform, User: t.From.ID, Session: session, Notes: companion.WritesNotes(what)})
	if err != nil {
		return permission.Policy{}
	}
	return permission.Policy{Yolo: yolo, Binary: h.self, Skills: companion.ToolsOf(what, h.toolNames()), Dir: at.Work,
		SkillDirs: []string{h.skills()}, Tmp: at.Tmp, Notes: at.Notes, WriteNotes: companion.WritesNotes(what),
		WriteExtensions: h.cfg.Agent.Sandbox.AllowedWriteExtensions, Commands: h.programs}
}

// skills is the folder in which skills are laid out for agents.
func (h *Host) skills() string { return filepath.Join(h.Instance.State(), "skills") }
