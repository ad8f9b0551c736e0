package host

import (
	"slices"

	"familiar/internal/chat"
	"familiar/internal/skill"
)

// laySkills lays out the skills for agents: our own, as far as the tools that they teach are there, those of other people
// that were let in, and what lies in agent.skillsDir, which wins. The programs of the latter may be run unasked, unless agent.autoApproveSkills names others.
func (h *Host) laySkills() error {
	found, err := skill.Find(h.Loaded.Path(h.cfg.Agent.SkillsDir))
	if err != nil {
		h.log.Warn("some skills are left out", chat.KeyErr, err)
	}
	ours, tools, foreign := skill.Ours(), h.toolNames(), h.foreignSkills()
	foreign = slices.DeleteFunc(foreign, func(s skill.Skill) bool {
		return slices.ContainsFunc(found, func(o skill.Skill) bool { return o.Name == s.Name })
	})
	found = slices.DeleteFunc(found, func(s skill.Skill) bool {
		return slices.Contains(ours, s.Name) && !slices.Contains(tools, s.Name)
	})
	if err := skill.Lay(h.skills(), slices.Concat(found, foreign)); err != nil {
		return err
	}
	h.laid, h.programs = nil, h.cfg.Agent.Skills.AutoApproveSkills
	for _, s := range found {
		h.laid = append(h.laid, s.Name)
		if own := !slices.Contains(ours, s.Name); own && len(h.cfg.Agent.Skills.AutoApproveSkills) == 0 {
			h.programs = append(h.programs, s.Name)
		}
	}
	for _, s := range foreign {
		h.laid = append(h.laid, s.Name)
	}
	return nil
}
