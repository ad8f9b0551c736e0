package skill

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/setting"
)

// Config is what the section agent says about skills that come from elsewhere.
type Config struct {
	ExternalSkills    []External `yaml:"externalSkills" env:"AGENT_EXTERNAL_SKILLS" doc:"skills to fetch from elsewhere before the bot starts"`
	AutoApproveSkills []string   `yaml:"autoApproveSkills" env:"AGENT_AUTO_APPROVE_SKILLS" doc:"names of the skills, beside our own, whose program an agent may run unasked; empty means those that lie in skillsDir"`
}

// External is one entry of externalSkills.
type External struct {
	Repo  string `yaml:"repo" doc:"the repository that the skill lies in, as in owner/name"`
	Skill string `yaml:"skill" doc:"name of the skill there"`
}

// aRepo is what a repository may look like; a word that begins with - would be an option of the program that fetches.
var aRepo = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~:/@#-]*$`)

// Check drops what is incomplete, with a warning: one bad line must not keep a bot from starting.
func (c *Config) Check(r *setting.Report) {
	var whole []External
	for i, e := range c.ExternalSkills {
		switch e.Repo, e.Skill = strings.TrimSpace(e.Repo), strings.TrimSpace(e.Skill); {
		case e.Repo == "" || e.Skill == "":
			r.Warn(fmt.Sprintf("externalSkills[%d]", i), "needs both repo and skill; the entry is left out")
			continue
		case !aRepo.MatchString(e.Repo):
			r.Warn(fmt.Sprintf("externalSkills[%d].repo", i), "%q is no repository, such as owner/name or an https address; the entry is left out", e.Repo)
			continue
		case !kebab.MatchString(e.Skill) || len(e.Skill) > maxName:
			r.Warn(fmt.Sprintf("externalSkills[%d].skill", i), "%q is no name of a skill: lower case words with hyphens between them; the entry is left out", e.Skill)
			continue
		case slices.Contains(Ours(), e.Skill):
			r.Warn(fmt.Sprintf("externalSkills[%d].skill", i), "%q is the name of one of our own skills; the entry is left out", e.Skill)
			continue
		case slices.ContainsFunc(whole, func(o External) bool { return o.Skill == e.Skill }):
			r.Warn(fmt.Sprintf("externalSkills[%d].skill", i), "%q is named twice; the later entry is left out", e.Skill)
			continue
		}
		whole = append(whole, e)
	}
	c.ExternalSkills = whole
	c.AutoApproveSkills = slices.DeleteFunc(c.AutoApproveSkills, func(name string) bool { return strings.TrimSpace(name) == "" })
}
