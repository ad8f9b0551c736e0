package gate

import (
	"errors"
	"fmt"

	"familiar/internal/setting"
)

// Config is the section access, as far as a companion uses it.
type Config struct {
	ReplyPolicy Policy  `yaml:"replyPolicy" env:"REPLY_POLICY,REPLY_TO" doc:"whom to answer: all, public (in private only whom an entry lists) or channels (only whom an entry lists)"`
	Channels    []Entry `yaml:"channels" env:"CHANNELS" doc:"the people and places that are heard; an empty list hears nobody but the owner, \"*\" hears everybody"`
	Pairing     bool    `yaml:"pairing" doc:"a stranger who writes in private gets a pairing code, with which an owner can admit them: /pair CODE, or on the page"`
	RateLimit   Rate    `yaml:"rateLimit"`
}

// Rate is the section access.rateLimit.
type Rate struct {
	Enabled              bool `yaml:"enabled" env:"RATE_LIMIT_ENABLED" doc:"limit how often one person may ask; owners and account entries are not limited"`
	MaxRequestsPerWindow int  `yaml:"maxRequestsPerWindow" env:"RATE_LIMIT_MAX_REQUESTS_PER_WINDOW" doc:"requests of one person in one window; one more begins the cooldown"`
	WindowMs             int  `yaml:"windowMs" env:"RATE_LIMIT_WINDOW_MS" doc:"length of the window that requests are counted in"`
	CooldownMs           int  `yaml:"cooldownMs" env:"RATE_LIMIT_COOLDOWN_MS" doc:"how long a person is not heard after asking too often"`
}

// Defaults returns the section as it is without a file: nobody is heard but the owner.
func Defaults() Config {
	return Config{
		ReplyPolicy: ReplyChannels,
		RateLimit:   Rate{MaxRequestsPerWindow: 10, WindowMs: 600_000, CooldownMs: 600_000},
	}
}

// Check corrects what can be corrected. An id that is not understood is dropped with a warning, for one bad line
// must not silence a bot; a blank one is an error.
func (c *Config) Check(r *setting.Report) {
	if c.ReplyPolicy == "whitelist" { // the word of older files
		c.ReplyPolicy = ReplyChannels
	}
	r.OneOf("replyPolicy", string(c.ReplyPolicy), string(ReplyAll), string(ReplyPublic), string(ReplyChannels))
	c.Channels = checkEntries(r, c.Channels)
	limit := r.At("rateLimit")
	limit.AtLeast("maxRequestsPerWindow", &c.RateLimit.MaxRequestsPerWindow, 1)
	limit.AtLeast("windowMs", &c.RateLimit.WindowMs, 1)
	limit.AtLeast("cooldownMs", &c.RateLimit.CooldownMs, 0)
}

func checkEntries(r *setting.Report, raw []Entry) []Entry {
	var kept []Entry
	for i, e := range raw {
		at := fmt.Sprintf("channels[%d]", i)
		parsed, err := parseEntry(e)
		switch {
		case errors.Is(err, errBlank):
			r.Wrong(at, "%v", err)
		case err != nil:
			r.Warn(at, "%v; the entry is left out", err)
		default:
			if parsed.kind == everybody && !bool(e.Disabled) {
				r.Warn(at, "\"*\" hears everybody")
			}
			kept = append(kept, e)
		}
	}
	return kept
}
