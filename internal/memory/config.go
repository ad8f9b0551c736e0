package memory

import (
	"sync/atomic"

	"familiar/internal/setting"
)

// Config is the section memory.
type Config struct {
	SearchLimit         int `yaml:"searchLimit" doc:"the most memories that one search tells, when the caller does not say (1 to 100)"`
	MaxChars            int `yaml:"maxChars" doc:"the most characters of memories that one search tells"`
	RecentMessageLimit  int `yaml:"recentMessageLimit" doc:"how many recent messages of the place an agent is told"`
	RelatedMessageLimit int `yaml:"relatedMessageLimit" doc:"how many related messages of other channels an agent is told"`
}

// limits are settings that a running bot takes over: a search uses those that it finds when it begins.
type limits = atomic.Pointer[Config]

// Defaults returns the section as it is when nothing is said.
func Defaults() Config {
	return Config{SearchLimit: 10, MaxChars: 2000, RecentMessageLimit: 20, RelatedMessageLimit: 10}
}

// Check corrects what is out of range.
func (c *Config) Check(r *setting.Report) {
	r.AtLeast("searchLimit", &c.SearchLimit, 1)
	r.AtLeast("maxChars", &c.MaxChars, 1)
	r.AtLeast("recentMessageLimit", &c.RecentMessageLimit, 0)
	r.AtLeast("relatedMessageLimit", &c.RelatedMessageLimit, 0)
	if c.SearchLimit > maxLimit {
		r.Warn("searchLimit", "%d is above the greatest value %d; %d is used", c.SearchLimit, maxLimit, maxLimit)
		c.SearchLimit = maxLimit
	}
}

// limit returns how many hits a caller gets who asked for n.
func (c Config) limit(n int) int {
	if n <= 0 {
		return c.SearchLimit
	}
	return min(n, maxLimit)
}
