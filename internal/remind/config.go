package remind

import (
	"path/filepath"

	"familiar/internal/setting"
)

// Config is the section companion.reminders.
type Config struct {
	Enabled             bool   `yaml:"enabled" env:"REMINDERS_ENABLED" doc:"let people set reminders in direct messages"`
	MaxRemindersPerUser int    `yaml:"maxRemindersPerUser" env:"REMINDERS_MAX_PER_USER" doc:"how many reminders one person may have waiting"`
	MinIntervalMs       int    `yaml:"minIntervalMs" env:"REMINDERS_MIN_INTERVAL_MS" doc:"how far ahead a reminder must lie, in milliseconds; 10 seconds at least"`
	CheckIntervalMs     int    `yaml:"checkIntervalMs" env:"REMINDERS_CHECK_INTERVAL_MS" doc:"time between two looks at what is due, in milliseconds; 5 seconds at least"`
	PersistPath         string `yaml:"persistPath" env:"REMINDERS_PERSIST_PATH" doc:"name of the file in each person's workspace"`
}

// The least values, in milliseconds.
const (
	leastAhead = 10_000
	leastCheck = 5_000
)

// Defaults returns the section as it is when nothing is written: off.
func Defaults() Config {
	return Config{MaxRemindersPerUser: 20, MinIntervalMs: 60_000, CheckIntervalMs: 30_000, PersistPath: "reminders.jsonl"}
}

// Check corrects what is out of range.
func (c *Config) Check(r *setting.Report) {
	r.AtLeast("maxRemindersPerUser", &c.MaxRemindersPerUser, 1)
	r.AtLeast("minIntervalMs", &c.MinIntervalMs, leastAhead)
	r.AtLeast("checkIntervalMs", &c.CheckIntervalMs, leastCheck)
	if name := c.PersistPath; !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		r.Wrong("persistPath", "%q is not the name of a file, such as reminders.jsonl", name)
	}
}
