package briefing

import "familiar/internal/setting"

// Config is what the section `agent` says about briefings.
type Config struct {
	TokenLimit       int    `yaml:"tokenLimit" doc:"How much an agent is told at most, in estimated tokens; older talk is left out first"`
	SystemPromptPath string `yaml:"systemPromptPath" doc:"The prompt of a reply; the other prompts are looked for beside it. Empty: system_reply.md of the instance's prompts, else the built-in one"`
}

// Defaults returns the settings as they are when nothing is configured.
func Defaults() Config { return Config{TokenLimit: 20000} }

// Check implements the convention of package setting. The prompt is read, and so checked, when it is used.
func (c *Config) Check(r *setting.Report) { r.AtLeast("tokenLimit", &c.TokenLimit, 1) }
