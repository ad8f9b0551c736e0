package loop

import (
	"time"

	"familiar/internal/setting"
)

// Config is the budgets of the built-in agent. Durations are in milliseconds.
type Config struct {
	MaxSteps        int `yaml:"maxSteps" env:"LLM_MAX_STEPS" doc:"how often one turn may ask the model"`
	MaxTurnTokens   int `yaml:"maxTurnTokens" env:"LLM_MAX_TURN_TOKENS" doc:"tokens, read and written, after which a turn asks the model no more; 0 sets no limit"`
	MaxAnswerTokens int `yaml:"maxAnswerTokens" env:"LLM_MAX_ANSWER_TOKENS" doc:"the longest single answer of the model, in tokens; 0 leaves it to the provider"`
	HistoryTokens   int `yaml:"historyTokens" env:"LLM_HISTORY_TOKENS" doc:"how much of a conversation the model is shown, in estimated tokens; the oldest exchanges go first"`
	ToolTimeoutMs   int `yaml:"toolTimeoutMs" env:"LLM_TOOL_TIMEOUT_MS" doc:"how long one tool call may take, in milliseconds"`
	ParallelTools   int `yaml:"parallelTools" env:"LLM_PARALLEL_TOOLS" doc:"how many tool calls of one answer run at once"`
	ResultBytes     int `yaml:"resultBytes" env:"LLM_RESULT_BYTES" doc:"bytes that the answer of a tool is cut to before the model reads it"`
	// TimeoutMs is how long a turn may take; 0 sets no limit. It is the same setting for every agent, so it is not
	// written here.
	TimeoutMs int `yaml:"-"`
}

// Defaults returns the budgets as they are when nothing is configured. They are ours: enough for long work, and an
// end to work that leads nowhere.
func Defaults() Config {
	return Config{MaxSteps: 40, MaxTurnTokens: 2_000_000, HistoryTokens: 60_000, ToolTimeoutMs: 120_000,
		ParallelTools: 8, ResultBytes: 64 << 10, TimeoutMs: 30 * 60_000}
}

// Check raises what is too small to work with.
func (c *Config) Check(r *setting.Report) {
	r.AtLeast("maxSteps", &c.MaxSteps, 1)
	r.AtLeast("maxTurnTokens", &c.MaxTurnTokens, 0)
	r.AtLeast("maxAnswerTokens", &c.MaxAnswerTokens, 0)
	r.AtLeast("historyTokens", &c.HistoryTokens, 1000)
	r.AtLeast("toolTimeoutMs", &c.ToolTimeoutMs, 10)
	r.AtLeast("parallelTools", &c.ParallelTools, 1)
	r.AtLeast("resultBytes", &c.ResultBytes, 1000)
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
