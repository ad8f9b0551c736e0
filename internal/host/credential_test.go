package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent"
	"familiar/internal/chat"
	"familiar/internal/config"
	"familiar/internal/secret"
	"familiar/internal/workspace"
)

// The agent's own Git can sign in where an owner speaks alone, and nowhere else; without a password nothing is lent.
func TestTheLoginIsLentToOwnersAlone(t *testing.T) {
	r := live(t, dir(t), func(c *config.Config) {
		c.Bot.Owner = map[string]config.IDs{"net": {"ann"}}
		c.Agent.GitCredential.Enabled = true
		c.GitBackup.RemoteURL, c.GitBackup.AuthUser, c.GitBackup.AuthPassword = "https://git.example.org/x", "bot", secret.New("push-word-1")
	})
	lend := r.lend()
	for _, c := range []struct {
		platform, who string
		at            chat.PlaceKind
		what          chat.SessionType
		lent          bool
	}{
		{"net", "ann", chat.Direct, "", true},
		{"net", "ann", chat.Direct, chat.MessageSession, true},
		{"web", "owner", chat.Direct, chat.MessageSession, true},
		{"net", "ann", chat.Group, chat.MessageSession, false},
		{"net", "ann", chat.Broadcast, chat.LurkSession, false},
		{"net", "ann", chat.Direct, chat.UpkeepSession, false},
		{"net", "bob", chat.Direct, chat.MessageSession, false},
		{"other", "ann", chat.Direct, chat.MessageSession, false},
		{"discord", "self-research", chat.Self, chat.ResearchSession, false},
	} {
		home := t.TempDir()
		err := lend(agent.Opening{Workspace: workspace.Ref{Platform: c.platform, User: c.who}, At: c.at, Type: c.what}, home)
		text, missing := os.ReadFile(filepath.Join(home, ".git-credentials"))
		if err != nil || c.lent != (missing == nil) || c.lent && string(text) != "https://bot:push-word-1@git.example.org\n" {
			t.Errorf("%+v: %q, %v", c, text, err)
		}
	}
	if strings.Contains(r.log.String(), "push-word-1") {
		t.Error("the log tells the password")
	}
	r.cfg.GitBackup.AuthPassword = secret.Value{}
	if r.lend() != nil {
		t.Error("lent without a password")
	}
	r.cfg.GitBackup.AuthPassword, r.cfg.Agent.GitCredential.Enabled = secret.New("push-word-1"), false
	if r.lend() != nil {
		t.Error("lent although it is off")
	}
}
