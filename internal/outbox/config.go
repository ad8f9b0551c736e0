package outbox

import "familiar/internal/setting"

// Config is the section `outbox`.
type Config struct {
	MaxParts int    `yaml:"maxParts" env:"OUTBOX_MAX_PARTS" doc:"The most messages that one long reply is split into; the rest is cut off with …"`
	Overflow string `yaml:"overflow" env:"OUTBOX_OVERFLOW" doc:"What becomes of a reply that is too long for one message: split, or truncate (one message that ends in three dots)"`
}

// The ways of Config.Overflow.
const (
	Split    = "split"
	Truncate = "truncate"
)

// mostParts keeps one reply from flooding a place.
const mostParts = 20

// Defaults returns the section as it is when nothing is configured.
func Defaults() Config { return Config{MaxParts: 5, Overflow: Split} }

// Check implements the convention of package setting.
func (c *Config) Check(r *setting.Report) {
	r.AtLeast("maxParts", &c.MaxParts, 1)
	if c.MaxParts > mostParts {
		r.Warn("maxParts", "%d is above the highest value %d; %d is used", c.MaxParts, mostParts, mostParts)
		c.MaxParts = mostParts
	}
	r.OneOf("overflow", c.Overflow, Split, Truncate)
}
