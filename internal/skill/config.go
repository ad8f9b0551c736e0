package skill

import (
	"fmt"
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

// Check drops what is incomplete, with a warning: one bad line must not keep a bot from starting.
func (c *Config) Check(r *setting.Report) {
	var whole []External
	for i, e := range c.ExternalSkills {
		if strings.TrimSpace(e.Repo) == "" || strings.TrimSpace(e.Skill) == "" {
			r.Warn(fmt.Sprintf("externalSkills[%d]", i), "needs both repo and skill; the entry is left out")
			continue
		}
		whole = append(whole, e)
	}
	c.ExternalSkills = whole
	c.AutoApproveSkills = slices.DeleteFunc(c.AutoApproveSkills, func(name string) bool { return strings.TrimSpace(name) == "" })
}
