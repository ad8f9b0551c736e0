package upkeep

import (
	"strings"

	"familiar/internal/setting"
)

// Config is the section companion.memoryMaintenance.
type Config struct {
	Enabled        bool   `yaml:"enabled" env:"MEMORY_MAINTENANCE_ENABLED" doc:"let an agent put many memories of one person into few, now and then; needs a model"`
	Model          string `yaml:"model" env:"MEMORY_MAINTENANCE_MODEL" doc:"model of such a session, as the agent names it"`
	MinMemoryCount int    `yaml:"minMemoryCount" env:"MEMORY_MAINTENANCE_MIN_MEMORY_COUNT" doc:"how many memories a person must have before they are tidied; 10 at least"`
	IntervalMs     int    `yaml:"intervalMs" env:"MEMORY_MAINTENANCE_INTERVAL_MS" doc:"time between two such rounds, in milliseconds; an hour at least"`
}

// The least values: tidying a handful of memories, or tidying all the time, costs more than it brings.
const (
	leastCount    = 10
	leastInterval = 3_600_000
)

// Defaults returns the section as it is when nothing is written: off.
func Defaults() Config {
	return Config{Model: "gpt-5-mini", MinMemoryCount: 50, IntervalMs: 604_800_000}
}

// Check corrects what is out of range, and switches off what has nothing to work with.
func (c *Config) Check(r *setting.Report) {
	if c.Enabled && strings.TrimSpace(c.Model) == "" {
		r.Warn("enabled", "is switched off: model is blank")
		c.Enabled = false
	}
	r.AtLeast("minMemoryCount", &c.MinMemoryCount, leastCount)
	r.AtLeast("intervalMs", &c.IntervalMs, leastInterval)
}
