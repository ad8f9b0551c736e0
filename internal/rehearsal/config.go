package rehearsal

import "familiar/internal/setting"

// Config is the section agent.dryRun.
type Config struct {
	Enabled    bool   `yaml:"enabled" env:"DRY_RUN_ENABLED" doc:"start no agent: write what it would be told to a file, and answer with mockReply; familiar up --dry-run does the same"`
	OutputPath string `yaml:"outputPath" env:"DRY_RUN_OUTPUT_PATH" doc:"folder of those files, which hold what people said"`
	MockReply  string `yaml:"mockReply" env:"DRY_RUN_MOCK_REPLY" doc:"the answer of a dry run; auto is a sentence in the bot's language, empty is none"`
}

// AutoReply is the MockReply that stands for a sentence in the bot's language.
const AutoReply = "auto"

// Defaults returns the section as it is when nothing is said.
func Defaults() Config { return Config{OutputPath: "data/dry-run", MockReply: AutoReply} }

// Check says what is missing.
func (c *Config) Check(r *setting.Report) {
	if c.OutputPath == "" {
		r.Missing("outputPath")
	}
	if c.Enabled {
		r.Warn("enabled", "is on: no agent is started, and prompts with what people said are written to files")
	}
}
