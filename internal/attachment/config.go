package attachment

import (
	"strings"

	"familiar/internal/setting"
)

// Config is the section skill.sendFile.
type Config struct {
	Enabled               bool     `yaml:"enabled" env:"SKILL_SEND_FILE_ENABLED" doc:"let agents send files of their workspace"`
	MaxFileSizeMB         float64  `yaml:"maxFileSizeMb" env:"SKILL_SEND_FILE_MAX_SIZE_MB,SKILL_SEND_FILE_MAX_FILE_SIZE_MB" doc:"the largest file, in MB; 0 sets no limit"`
	AllowedExtensions     []string `yaml:"allowedExtensions" env:"SKILL_SEND_FILE_ALLOWED_EXTENSIONS" doc:"endings of the files that may be sent, as in .png; an empty list allows all"`
	MaxFilesPerInvocation int      `yaml:"maxFilesPerInvocation" doc:"how many files one message may carry"`
	MaxTotalSizeMB        float64  `yaml:"maxTotalSizeMb" doc:"how large the files of one message may be together, in MB; 0 sets no limit"`
}

// Defaults returns the section as it is when nothing is written: off.
func Defaults() Config {
	return Config{MaxFileSizeMB: 25, MaxFilesPerInvocation: 10, MaxTotalSizeMB: 50}
}

// Check corrects what is out of range. Endings are compared in small letters.
func (c *Config) Check(r *setting.Report) {
	c.MaxFileSizeMB = positive(r, "maxFileSizeMb", c.MaxFileSizeMB, Defaults().MaxFileSizeMB)
	c.MaxTotalSizeMB = positive(r, "maxTotalSizeMb", c.MaxTotalSizeMB, Defaults().MaxTotalSizeMB)
	r.AtLeast("maxFilesPerInvocation", &c.MaxFilesPerInvocation, 1)
	for i, ending := range c.AllowedExtensions {
		if ending = strings.ToLower(strings.TrimSpace(ending)); ending == "" {
			r.Wrong("allowedExtensions", "an entry is blank; write an ending such as .png, or remove the entry")
			continue
		}
		if !strings.HasPrefix(ending, ".") { // a list that is meant to restrict is never widened by dropping an entry
			ending = "." + ending
			r.Warn("allowedExtensions", "%q does not start with a dot; %q is used", c.AllowedExtensions[i], ending)
		}
		c.AllowedExtensions[i] = ending
	}
}

// positive takes the default for a size that is none: 0 would lift the limit.
func positive(r *setting.Report, key string, size, standard float64) float64 {
	if size >= 0 && size < 1e9 {
		return size
	}
	r.Warn(key, "%v is no size in MB; %v is used", size, standard)
	return standard
}
