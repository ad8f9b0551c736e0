package llm

import (
	"net"
	"net/url"
	"strings"
	"time"

	"familiar/internal/secret"
	"familiar/internal/setting"
)

// Config is the section llm.
type Config struct {
	Provider    string         `yaml:"provider" env:"LLM_PROVIDER" doc:"who answers the built-in agent: anthropic, openai, openrouter, gemini, ollama, or compatible (any server that speaks OpenAI's chat completions); empty takes the first whose key is in the environment"`
	BaseURL     string         `yaml:"baseUrl" env:"LLM_BASE_URL" doc:"address of the provider, as in http://127.0.0.1:8080/v1; empty takes the provider's own"`
	APIKey      secret.Value   `yaml:"apiKey" env:"LLM_API_KEY" doc:"key at the provider; empty takes the provider's own variable, such as ANTHROPIC_API_KEY"`
	Model       string         `yaml:"model" env:"LLM_MODEL" doc:"model, as the provider names it; empty takes one that we know to be good"`
	FirstByteMs int            `yaml:"firstByteMs" env:"LLM_FIRST_BYTE_MS" doc:"how long the provider may take to begin its answer, in milliseconds"`
	SilenceMs   int            `yaml:"silenceMs" env:"LLM_SILENCE_MS" doc:"how long it may fall silent within an answer, in milliseconds"`
	Fallback    FallbackConfig `yaml:"fallback" doc:"who answers when the provider is overloaded, silent, not reached or out of credit"`
}

// FallbackConfig is the part llm.fallback. Without a provider there is none.
type FallbackConfig struct {
	Provider string       `yaml:"provider" env:"LLM_FALLBACK_PROVIDER" doc:"as llm.provider; empty means no fallback"`
	BaseURL  string       `yaml:"baseUrl" env:"LLM_FALLBACK_BASE_URL" doc:"as llm.baseUrl"`
	APIKey   secret.Value `yaml:"apiKey" env:"LLM_FALLBACK_API_KEY" doc:"as llm.apiKey"`
	Model    string       `yaml:"model" env:"LLM_FALLBACK_MODEL" doc:"model that answers then; it must be named"`
}

// A model that is loaded first, or thinks unseen, may need minutes before its first byte; between two pieces of an
// answer half of that is much.
const (
	defaultFirstByteMs = 180_000
	defaultSilenceMs   = 90_000
	leastTimeoutMs     = 1000
)

// Defaults returns the section as it is when nothing is configured.
func Defaults() Config { return Config{FirstByteMs: defaultFirstByteMs, SilenceMs: defaultSilenceMs} }

// Check reports what cannot work.
func (c *Config) Check(r *setting.Report) {
	checkPlace(r, c.Provider, c.BaseURL, c.APIKey)
	r.AtLeast("firstByteMs", &c.FirstByteMs, leastTimeoutMs)
	r.AtLeast("silenceMs", &c.SilenceMs, leastTimeoutMs)
	second := r.At("fallback")
	f := c.Fallback
	if f.Provider == "" {
		if f.BaseURL != "" || f.Model != "" || f.APIKey.Set() {
			second.Wrong("provider", "is required when something else is set in fallback")
		}
		return
	}
	checkPlace(second, f.Provider, f.BaseURL, f.APIKey)
	if strings.TrimSpace(f.Model) == "" {
		second.Missing("model")
	}
}

func checkPlace(r *setting.Report, provider, base string, key secret.Value) {
	if provider != "" {
		r.OneOf("provider", provider, Providers()...)
	}
	if provider == "" && base != "" {
		r.Wrong("provider", "is required with baseUrl; write compatible for a server that speaks OpenAI's chat completions")
	}
	if provider == compatible && base == "" {
		r.Missing("baseUrl")
	}
	if base == "" {
		return
	}
	at, err := url.Parse(base)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		r.Wrong("baseUrl", "is not an address as in https://example.org/v1")
	case at.User != nil || at.RawQuery != "" || at.Fragment != "":
		r.Wrong("baseUrl", "holds more than an address; a key belongs into apiKey, where it is kept secret")
	case at.Scheme == "http" && key.Set() && !loopback(at.Hostname()):
		r.Warn("baseUrl", "sends the key in the clear over the network; use https where you can")
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func (c Config) firstByte() time.Duration { return milliseconds(c.FirstByteMs, defaultFirstByteMs) }
func (c Config) silence() time.Duration   { return milliseconds(c.SilenceMs, defaultSilenceMs) }

func milliseconds(n, standard int) time.Duration {
	if n <= 0 {
		n = standard
	}
	return time.Duration(n) * time.Millisecond
}

// Providers returns the names that Config.Provider takes.
func Providers() []string {
	var names []string
	for _, p := range providers {
		names = append(names, p.id)
	}
	return names
}
