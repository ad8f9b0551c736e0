package misskey

import (
	"strings"

	"familiar/internal/secret"
	"familiar/internal/setting"
)

// Config is the section platforms.misskey.
type Config struct {
	Enabled          bool         `yaml:"enabled" env:"MISSKEY_ENABLED" doc:"connect to a Misskey instance; a section that is written and not switched off is on"`
	Host             string       `yaml:"host" env:"MISSKEY_HOST" doc:"name of the instance, as in misskey.example.org; required when the platform is on"`
	Token            secret.Value `yaml:"token" env:"MISSKEY_TOKEN" doc:"access token of the bot's account; required when the platform is on"`
	Secure           bool         `yaml:"secure" doc:"connect over TLS; false is for an instance on this machine"`
	AllowDM          bool         `yaml:"allowDm" doc:"hear direct notes and chat messages"`
	RespondToMention bool         `yaml:"respondToMention" doc:"hear notes that mention the bot"`
	Reconnect        Reconnect    `yaml:"reconnect"`
}

// Reconnect is the section platforms.misskey.reconnect. Older files have it; every connection of ours is kept up by
// one rule, so its values change nothing.
type Reconnect struct {
	Enabled     bool `yaml:"enabled" doc:"of older files, without effect: a lost connection is always made again"`
	MaxAttempts int  `yaml:"maxAttempts" doc:"of older files, without effect"`
	BaseDelay   int  `yaml:"baseDelay" doc:"of older files, without effect"`
}

// Defaults returns the section as it is when nothing is written: off.
func Defaults() Config {
	return Config{Secure: true, AllowDM: true, RespondToMention: true,
		Reconnect: Reconnect{Enabled: true, MaxAttempts: 5, BaseDelay: 1000}}
}

// origin is the address of the instance.
func (c *Config) origin() string {
	if !c.Secure {
		return "http://" + c.Host
	}
	return "https://" + c.Host
}

// Check reports what nothing can connect with. Of a platform that is off nothing is required.
func (c *Config) Check(r *setting.Report) {
	switch {
	case strings.ContainsAny(c.Host, "/ @?#"):
		r.Wrong("host", "%q is no host name; write it without https:// and path", c.Host)
	case c.Enabled && c.Host == "":
		r.Missing("host")
	}
	if c.Enabled && !c.Token.Set() {
		r.Missing("token")
	}
}
