package discord

import (
	"net/url"

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
	APIURL           string       `yaml:"apiUrl" env:"DISCORD_API_URL" doc:"where Discord's API is: another address is for a proxy of your own, or for trying things out"`
}

// Typing is the section platforms.discord.typingIndicator.
type Typing struct {
	Enabled bool `yaml:"enabled" env:"DISCORD_TYPING_INDICATOR_ENABLED" doc:"show that the bot is typing while a turn runs"`
}

// apiURL is where Discord's API is.
const apiURL = "https://discord.com/api"

// Defaults returns the section as it is when nothing is written: off.
func Defaults() Config { return Config{AllowDM: true, RespondToMention: true, APIURL: apiURL} }

// Check reports what nothing can connect with. Of a platform that is off nothing is required.
func (c *Config) Check(r *setting.Report) {
	if !c.Enabled {
		return
	}
	if !c.Token.Set() {
		r.Missing("token")
	}
	for _, id := range c.GuildIDs {
		if !isID(id) {
			r.Wrong("guildIds", "%q is no id of a server; ids are numbers of 17 to 20 digits, in quotes", id)
		}
	}
	u, err := url.Parse(c.APIURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.Wrong("apiUrl", "is no address; leave it out, or write one such as %s", apiURL)
	}
	if !c.AllowDM && !c.RespondToMention && c.CommandPrefix == "" {
		r.Warn("respondToMention", "nothing is heard: allowDm, respondToMention and commandPrefix are all off")
	}
}
