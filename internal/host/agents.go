package host

import (
	"context"
	"os"
	"os/exec"
	"slices"

	"familiar/internal/agent/acp"
	"familiar/internal/agent/acp/profile"
	"familiar/internal/chat"
)

// openAgent is the table of who can think, in the order in which it is asked: a command of the operator's own, the
// agent that they named, the first agent on PATH that we ship a restricted profile for, and else our own on a model.
// Where there is none the bot serves all the same, and says what is missing.
func (h *Host) openAgent(ctx context.Context) error {
	deps, err := h.agentDeps()
	if err != nil {
		return err
	}
	cfg := h.cfg.Agent.Config
	var found profile.Profile
	switch {
	case cfg.Kind == "builtin": // whatever else is there
	case cfg.ID != "":
		found, err = h.named(ctx, deps)
	case cfg.Command != "":
		found = acp.Custom(cfg)
	default:
		found, err = h.installed(ctx, deps)
	}
	if err != nil {
		return err
	}
	if found.Command == "" {
		h.own = h.openBuiltin()
		h.agent = h.own
		return nil
	}
	if !found.Restricted {
		h.log.Warn("the agent is unrestricted: its tools are not restricted by us, only its walls are", "agent", found.Name)
	}
	external, err := acp.New(cfg, found, deps)
	if err != nil {
		return err
	}
	h.agent, h.external = external, external
	return nil
}

// named is the profile that agent.id names, started by agent.command where there is one.
func (h *Host) named(ctx context.Context, deps acp.Deps) (profile.Profile, error) {
	cfg := h.cfg.Agent.Config
	p, err := profile.Build(cfg.ID, acp.Operator(cfg, deps))
	if err != nil {
		return p, err
	}
	if cfg.Command != "" {
		p.Command = cfg.Command
	}
	p.Args = append(p.Args, cfg.Args...)
	return p, acp.Fit(ctx, p)
}

// installed is the first agent on PATH with a restricted profile that can run here. One that cannot is passed over
// with a word; the zero profile says that there is none.
func (h *Host) installed(ctx context.Context, deps acp.Deps) (profile.Profile, error) {
	for _, id := range profile.IDs() {
		p, err := profile.Build(id, acp.Operator(h.cfg.Agent.Config, deps))
		if _, missing := exec.LookPath(p.Command); missing != nil || !p.Restricted {
			continue
		}
		if err == nil {
			err = acp.Fit(ctx, p)
		}
		if err == nil {
			return p, nil
		}
		h.log.Warn("an agent that is installed is passed over", "agent", p.Name, chat.KeyErr, err)
	}
	return profile.Profile{}, nil
}

// ours reports whether our own agent thinks, without a try of any other.
func (h *Host) ours() bool {
	cfg := h.cfg.Agent.Config
	if cfg.Kind == "builtin" || cfg.ID != "" || cfg.Command != "" {
		return cfg.Kind == "builtin"
	}
	return !slices.ContainsFunc(profile.IDs(), func(id string) bool {
		p, _ := profile.Build(id, acp.Operator(cfg, acp.Deps{Parent: os.Environ()})) // what is wrong with one is told at the start
		_, missing := exec.LookPath(p.Command)
		return missing == nil && p.Restricted
	})
}

// agentDeps is what the house gives to an agent in a process of its own.
func (h *Host) agentDeps() (acp.Deps, error) {
	if err := h.laySkills(); err != nil {
		return acp.Deps{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // nobody is signed in then
	}
	deps := acp.Deps{Log: h.log.With("module", "Agent"), Vault: h.Vault, Enter: h.folders.Enter,
		Skills: h.skills(), Home: home, Parent: os.Environ(), Idle: h.count.IdleTimeout, Lend: h.lend()}
	if h.doors != nil { // a trial has none
		deps.Door = h.doors.Admit
	}
	return deps, nil
}
