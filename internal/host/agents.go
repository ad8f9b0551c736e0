package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"familiar/internal/agent"
	"familiar/internal/agent/acp"
	"familiar/internal/chat"
	"familiar/internal/phrase"
	"familiar/internal/skill"
)

// openAgent is the table of who can think: a command of the operator's own, else the agents that we ship a
// restricted profile for. Where there is none the bot serves all the same, and says what is missing.
func (h *Host) openAgent() error {
	deps, err := h.agentDeps()
	if err != nil {
		return err
	}
	cfg, profile := h.cfg.Agent.Config, acp.Custom(h.cfg.Agent.Config)
	if cfg.Command != "" {
		h.log.Warn("the agent is a command of your own: its tools are not restricted by us, only its walls are", "agent", profile.Name)
	} else {
		path, err := exec.LookPath("opencode")
		if errors.Is(err, exec.ErrNotFound) {
			h.missing = h.phrases.Say(phrase.AgentMissing)
			h.agent = nobody{h.phrases.Say(phrase.NoAgent, h.phrases.Say(phrase.AgentNext))}
			return nil
		}
		if err != nil {
			return fmt.Errorf("find OpenCode: %w", err)
		}
		if profile, err = acp.OpenCode(path, deps.Home, deps.Parent); err != nil {
			return err
		}
	}
	external, err := acp.New(cfg, profile, deps)
	if err != nil {
		return err
	}
	h.agent = external
	return nil
}

// agentDeps is what the house gives to an agent in a process of its own.
func (h *Host) agentDeps() (acp.Deps, error) {
	skills := h.skills()
	found, err := skill.Find(h.Loaded.Path(h.cfg.Agent.SkillsDir))
	if err != nil {
		h.log.Warn("some skills are left out", chat.KeyErr, err)
	}
	if err := skill.Lay(skills, found); err != nil {
		return acp.Deps{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // nobody is signed in then
	}
	return acp.Deps{Log: h.log.With("module", "Agent"), Vault: h.Vault, Enter: h.folders.Enter, Door: h.doors.Admit,
		Skills: skills, Home: home, Parent: os.Environ()}, nil
}

// nobody is the agent of a bot that has none: it tells the person what is missing.
type nobody struct{ say string }

func (nobody) Name() string { return "" }
func (nobody) Close() error { return nil }

func (n nobody) Open(context.Context, agent.Opening) (agent.Session, error) {
	return nil, chat.UserError{Say: n.say, Err: errors.New("there is no agent")}
}
