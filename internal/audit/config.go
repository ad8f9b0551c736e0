package audit

import "familiar/internal/setting"

// Config is the section audit.
type Config struct {
	Enabled        bool     `yaml:"enabled" env:"AUDIT_ENABLED" doc:"keep a record of every session"`
	RetentionDays  int      `yaml:"retentionDays" env:"AUDIT_RETENTION_DAYS" doc:"days after which a record is removed; 0 or less keeps it for ever"`
	HashContent    bool     `yaml:"hashContent" env:"AUDIT_HASH_CONTENT" doc:"write a SHA-256 in place of what was said"`
	IncludedPhases []string `yaml:"includedPhases" env:"AUDIT_INCLUDED_PHASES" doc:"the phases that are written; an empty list is all of them"`
}

// Defaults returns the section as it is when nothing is said.
func Defaults() Config {
	return Config{RetentionDays: 7, HashContent: true,
		IncludedPhases: []string{SkillCall{}.Phase(), ReplySent{}.Phase(), SessionEnd{}.Phase()}}
}

// Check refuses phases that there are not.
func (c *Config) Check(r *setting.Report) {
	for _, phase := range c.IncludedPhases {
		r.OneOf("includedPhases", phase, Phases()...)
	}
}
