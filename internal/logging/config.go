package logging

import (
	"log/slog"
	"strings"

	"familiar/internal/setting"
)

// Config is the section logging.
type Config struct {
	Level string `yaml:"level" env:"LOG_LEVEL" doc:"the least level that is written: DEBUG, INFO, WARN, ERROR or FATAL"`
	GELF  GELF   `yaml:"gelf"`
}

// Defaults returns the section as it is when nothing is said.
func Defaults() Config {
	return Config{Level: "INFO", GELF: GELF{Hostname: "familiar", Protocol: "http", Compress: true}}
}

// Check corrects a level that there is not to INFO: a typing error must not silence a program, or stop it.
func (c *Config) Check(r *setting.Report) {
	if _, ok := levels[strings.ToUpper(strings.TrimSpace(c.Level))]; !ok {
		r.Warn("level", "%q is none of DEBUG, INFO, WARN, ERROR, FATAL; INFO is used", c.Level)
		c.Level = "INFO"
	}
	c.GELF.check(r.At("gelf"))
}

// Fatal is the level of what ends the program.
const Fatal = slog.LevelError + 4

var levels = map[string]slog.Level{"DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo, "WARN": slog.LevelWarn,
	"ERROR": slog.LevelError, "FATAL": Fatal}

// level returns the least level that is written.
func (c Config) level() slog.Level {
	if level, ok := levels[strings.ToUpper(strings.TrimSpace(c.Level))]; ok {
		return level
	}
	return slog.LevelInfo
}

// levelWord returns the word of the highest level that is not above l.
func levelWord(l slog.Level) string {
	switch {
	case l < slog.LevelInfo:
		return "DEBUG"
	case l < slog.LevelWarn:
		return "INFO"
	case l < slog.LevelError:
		return "WARN"
	case l < Fatal:
		return "ERROR"
	}
	return "FATAL"
}
