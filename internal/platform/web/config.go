package web

import "familiar/internal/setting"

// Config is the section platforms.web.
type Config struct {
	Enabled bool `yaml:"enabled" doc:"serve the chat page and /v1/sessions on the one listener"`
}

// Defaults returns the section as it is when nothing is written: on.
func Defaults() Config { return Config{Enabled: true} }

// Check has nothing to find: every value of a switch is right.
func (c *Config) Check(*setting.Report) {}
