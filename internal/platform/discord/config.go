// Package discord is a bot account on Discord. So far it holds the settings alone; a configuration that switches
// them on is refused until the platform is there.
package discord

import (
	"familiar/internal/secret"
	"familiar/internal/setting"
)

// Config is the section platforms.discord.
type Config struct {
	Enabled          bool         `yaml:"enabled" env:"DISCORD_ENABLED" doc:"connect to Discord; a section that is written and not switched off is on"`
	Token            secret.Value `yaml:"token" env:"DISCORD_TOKEN" doc:"token of the bot's account; required when the platform is on"`
	GuildIDs         []string     `yaml:"guildIds" doc:"the servers that are served; an empty list serves all that the bot is in"`
	AllowDM          bool         `yaml:"allowDm" doc:"hear direct messages"`
	RespondToMention bool         `yaml:"respondToMention" doc:"hear messages that mention the bot"`
	CommandPrefix    string       `yaml:"commandPrefix" doc:"hear messages that begin so, as in !; empty means none"`
	TypingIndicator  Typing       `yaml:"typingIndicator"`
}

// Typing is the section platforms.discord.typingIndicator.
type Typing struct {
	Enabled bool `yaml:"enabled" env:"DISCORD_TYPING_INDICATOR_ENABLED" doc:"show that the bot is typing while a turn runs"`
}

// Defaults returns the section as it is when nothing is written: off.
func Defaults() Config { return Config{AllowDM: true, RespondToMention: true} }

// Check reports what nothing can connect with. Of a platform that is off nothing is required.
func (c *Config) Check(r *setting.Report) {
	if c.Enabled && !c.Token.Set() {
		r.Missing("token")
	}
}
