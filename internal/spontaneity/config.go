package spontaneity

import "familiar/internal/setting"

// Config is the section spontaneousPost of a platform. The names of its variables begin with that of the platform.
type Config struct {
	Enabled                 bool    `yaml:"enabled" env:"SPONTANEOUS_ENABLED" doc:"post unasked where an entry of access.channels says spontaneousPost"`
	MinIntervalMs           int     `yaml:"minIntervalMs" env:"SPONTANEOUS_MIN_INTERVAL_MS" doc:"the shortest time between two such posts, in milliseconds; a minute at least"`
	MaxIntervalMs           int     `yaml:"maxIntervalMs" env:"SPONTANEOUS_MAX_INTERVAL_MS" doc:"the longest time between two such posts, in milliseconds"`
	ContextFetchProbability float64 `yaml:"contextFetchProbability" env:"SPONTANEOUS_CONTEXT_FETCH_PROBABILITY" doc:"how often the recent talk of the place is read first, from 0 (never) to 1 (always)"`
}

// Lurk is the section channelLurk of a platform. The names of its variables begin with that of the platform.
type Lurk struct {
	Enabled    bool `yaml:"enabled" env:"CHANNEL_LURK_ENABLED" doc:"read along where an entry of access.channels says channelLurk, and join in"`
	IntervalMs int  `yaml:"intervalMs" env:"CHANNEL_LURK_INTERVAL_MS" doc:"time between two looks, in milliseconds; a minute at least"`
}

// leastInterval keeps a bot from talking all the time, in milliseconds.
const leastInterval = 60_000

// Defaults returns the section spontaneousPost as it is when nothing is written: off.
func Defaults() Config {
	return Config{MinIntervalMs: 10_800_000, MaxIntervalMs: 43_200_000, ContextFetchProbability: 0.5}
}

// DefaultLurk returns the section channelLurk as it is when nothing is written: off.
func DefaultLurk() Lurk { return Lurk{IntervalMs: 1_800_000} }

// Check corrects what is out of range.
func (c *Config) Check(r *setting.Report) {
	if c.MinIntervalMs > c.MaxIntervalMs {
		r.Warn("minIntervalMs", "%d is above maxIntervalMs (%d); the two are exchanged", c.MinIntervalMs, c.MaxIntervalMs)
		c.MinIntervalMs, c.MaxIntervalMs = c.MaxIntervalMs, c.MinIntervalMs
	}
	r.AtLeast("minIntervalMs", &c.MinIntervalMs, leastInterval)
	r.AtLeast("maxIntervalMs", &c.MaxIntervalMs, c.MinIntervalMs)
	if p := c.ContextFetchProbability; !(p >= 0 && p <= 1) { // NaN is neither
		c.ContextFetchProbability = 0
		if p > 1 {
			c.ContextFetchProbability = 1
		}
		r.Warn("contextFetchProbability", "%v is not from 0 to 1; %v is used", p, c.ContextFetchProbability)
	}
}

// Check corrects what is out of range.
func (l *Lurk) Check(r *setting.Report) { r.AtLeast("intervalMs", &l.IntervalMs, leastInterval) }
