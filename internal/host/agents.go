package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"familiar/internal/agent"
	"familiar/internal/agent/acp"
	"familiar/internal/chat"
	"familiar/internal/phrase"
	"familiar/internal/skill"
)

// openAgent is the table of who can think: a command of the operator's own, else the agents that we ship a
// restricted profile for. Where there is none the bot serves all the same, and says what is missing.
func (h *Host) openAgent() (agent.Agent, error) {
	cfg := h.cfg.Agent.Config
	deps, err := h.agentDeps()
	if err != nil {
		return nil, err
	}
	if cfg.Command != "" {
		h.log.Warn("the agent is a command of your own: its tools are not restricted by us, only its walls are", "agent", filepath.Base(cfg.Command))
		return acp.New(cfg, acp.Custom(cfg), deps)
	}
	path, err := exec.LookPath("opencode")
	if errors.Is(err, exec.ErrNotFound) {
		h.missing = h.phrases.Say(phrase.AgentMissing)
		return nobody{h.phrases.Say(phrase.NoAgent, h.phrases.Say(phrase.AgentNext))}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find OpenCode: %w", err)
	}
	profile, err := acp.OpenCode(path, deps.Home, deps.Parent)
	if err != nil {
		return nil, err
	}
	return acp.New(cfg, profile, deps)
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
