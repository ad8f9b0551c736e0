package room

import "familiar/internal/setting"

// Config is what of the section access is about messages that come together, or while a turn runs.
type Config struct {
	JoinMs    int  `yaml:"joinMs" env:"ACCESS_JOIN_MS" doc:"how long an album, or a picture without words, waits for what belongs to it; 0 waits for nothing. Plain text never waits"`
	WhileBusy Busy `yaml:"whileBusy" env:"ACCESS_WHILE_BUSY" doc:"what becomes of a person's message while a turn of theirs runs: queue (it waits in line) or steer (the running turn gets it, where the agent can take it)"`
}

// Busy says what becomes of a message while a turn runs.
type Busy string

// The ways.
const (
	Queue Busy = "queue"
	Steer Busy = "steer"
)

// longestJoin bounds joinMs: nobody waits longer than a minute for a picture to be looked at.
const longestJoin = 60_000

// Defaults returns the settings as they are without a file.
func Defaults() Config { return Config{JoinMs: 800, WhileBusy: Queue} }

// Check corrects what can be corrected.
func (c *Config) Check(r *setting.Report) {
	r.AtLeast("joinMs", &c.JoinMs, 0)
	if c.JoinMs > longestJoin {
		r.Warn("joinMs", "%d is more than %d, which is used", c.JoinMs, longestJoin)
		c.JoinMs = longestJoin
	}
	r.OneOf("whileBusy", string(c.WhileBusy), string(Queue), string(Steer))
}
