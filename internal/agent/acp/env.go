package acp

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"familiar/internal/agent/acp/profile"
	"familiar/internal/tool"
	"familiar/internal/workspace"
)

// fromParent are the variables that every agent gets from our own environment.
var fromParent = []string{"PATH", "LANG", "LC_ALL", "USER"}

// surroundings are what an agent's environment is built from.
type surroundings struct {
	parent  []string // ours, KEY=value
	self    string   // our own executable, so that agents find it on their PATH; may be ""
	session string   // the id that the skill API knows the session by
	paths   workspace.Paths
	door    tool.Door
	root    bool // we run as root
}

// environment builds an agent's environment, from nothing unless filterEnv is off. What comes later wins; last
// come the things that nobody may set otherwise.
func environment(cfg Config, p profile.Profile, s surroundings) []string {
	parent, vars := map[string]string{}, map[string]string{}
	for _, pair := range s.parent {
		if name, value, ok := strings.Cut(pair, "="); ok {
			parent[name] = value
		}
	}
	if !cfg.Sandbox.FilterEnv {
		maps.Copy(vars, parent)
	}
	for _, name := range append(slices.Clone(cfg.Sandbox.AllowedEnvVars), fromParent...) {
		if value, ok := parent[name]; ok {
			vars[name] = value
		}
	}
	maps.Copy(vars, keys(cfg, p))
	for name, value := range p.Env {
		vars[name] = profile.At(s.paths.Home, s.paths.Tmp, value)
	}
	if s.root {
		maps.Copy(vars, p.RootEnv)
	}
	maps.Copy(vars, cfg.Env)
	if s.self != "" {
		vars["PATH"] = strings.TrimSuffix(filepath.Dir(s.self)+":"+vars["PATH"], ":")
	}
	maps.Copy(vars, map[string]string{"HOME": s.paths.Home, "TMPDIR": s.paths.Tmp, "AGENT_WORKSPACE": s.paths.Notes,
		"SESSION_ID": s.session, "SKILL_API_URL": s.door.SkillURL, "SKILL_API_TOKEN": s.door.Token})
	env := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if vars[name] != "" {
			env = append(env, name+"="+vars[name])
		}
	}
	return env
}

// keys returns the keys of model providers that were configured. The GitHub token goes only to agents that sign
// in with it: to others it would be nothing but a way into somebody's repositories.
func keys(cfg Config, p profile.Profile) map[string]string {
	vars := map[string]string{
		"GEMINI_API_KEY":               cfg.GeminiAPIKey.Reveal(),
		"GOOGLE_GENERATIVE_AI_API_KEY": cfg.GeminiAPIKey.Reveal(),
		"OPENCODE_API_KEY":             cfg.OpenCodeAPIKey.Reveal(),
		"OPENROUTER_API_KEY":           cfg.OpenRouterAPIKey.Reveal(),
		"ANTHROPIC_API_KEY":            cfg.AnthropicAPIKey.Reveal(),
		"OPENAI_API_KEY":               cfg.OpenAIAPIKey.Reveal(),
	}
	if p.GitHub {
		vars["GITHUB_TOKEN"] = cfg.GitHubToken.Reveal()
	}
	return vars
}
