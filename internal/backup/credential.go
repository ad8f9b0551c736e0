package backup

import (
	"strings"

	"familiar/internal/setting"
)

// Credential is the section agent.gitCredential: the login of gitBackup, lent to the agent's own Git.
type Credential struct {
	Enabled bool   `yaml:"enabled" env:"AGENT_GIT_CREDENTIAL_ENABLED" doc:"let the agent's Git sign in with the login of gitBackup"`
	Host    string `yaml:"host" env:"AGENT_GIT_CREDENTIAL_HOST" doc:"the host that this login is for; empty takes that of gitBackup.remoteUrl, else github.com"`
}

// Check reports a host that is none.
func (c *Credential) Check(r *setting.Report) {
	if strings.ContainsAny(c.Host, "/@ \n") {
		r.Wrong("host", "%q is no host name; write it without https:// and login", c.Host)
	}
}
