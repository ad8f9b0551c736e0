package host

import (
	"slices"

	"familiar/internal/agent"
	"familiar/internal/backup"
	"familiar/internal/chat"
	"familiar/internal/workspace"
)

// lend returns what lends agents the login of the backup, nil where they are lent none.
func (h *Host) lend() func(agent.Opening, string) error {
	cfg := h.cfg.Agent.GitCredential
	if !cfg.Enabled {
		return nil
	}
	loan, ok := cfg.Lend(h.cfg.GitBackup, h.cfg.Agent.GitHubToken)
	if !ok {
		h.log.Warn("agent.gitCredential is on, and there is no password to lend; see gitBackup.authPassword and agent.githubToken")
		return nil
	}
	h.Vault.Know(loan.Secrets()...)
	h.log.Info("the agent's Git can sign in, in direct conversations with an owner", "host", loan.Host())
	return h.lending(loan)
}

// lending lends to sessions that an owner alone speaks in: whoever can tell an agent what to do could have it push, so
// that neither strangers nor the words of a group are given the means.
func (h *Host) lending(loan backup.Loan) func(agent.Opening, string) error {
	owners := h.cfg.Owners()
	return func(o agent.Opening, home string) error {
		owned := slices.ContainsFunc(owners, func(p chat.Person) bool { return isOf(o.Workspace, p) })
		if !owned || o.At != chat.Direct || forBot(o.Type) {
			return nil
		}
		return loan.Lay(home)
	}
}

// isOf reports whether a workspace is a person's.
func isOf(ref workspace.Ref, p chat.Person) bool {
	return ref.Platform == p.Platform && ref.User == p.ID
}
