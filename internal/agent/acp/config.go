package acp

import (
	"fmt"
	"slices"
	"time"

	"familiar/internal/agent/acp/profile"
	"familiar/internal/process"
	"familiar/internal/secret"
	"familiar/internal/setting"
)

// Config is the part of the section agent that an external agent needs. Durations are in milliseconds.
type Config struct {
	Kind             string            `yaml:"kind" env:"AGENT_KIND" doc:"auto finds an agent that we ship a restricted profile for; acp runs an external agent; builtin is our own, on the model of the section llm"`
	ID               string            `yaml:"id" env:"AGENT_DEFAULT_TYPE" doc:"the agent whose profile is used: opencode, claude, codex, gemini, qwen, copilot, kimi, pi"`
	Command          string            `yaml:"command" env:"AGENT_COMMAND" doc:"an agent of your own that speaks ACP on its standard streams; its own tools are not restricted by us"`
	Args             []string          `yaml:"args" env:"AGENT_ARGS" doc:"arguments of command"`
	Env              map[string]string `yaml:"env" doc:"environment of the agent, added to what every agent gets"`
	Model            string            `yaml:"model" env:"AGENT_MODEL" doc:"model of the agent, as it names it; empty leaves the choice to the agent"`
	Sandbox          Sandbox           `yaml:"sandbox"`
	IdleTimeout      IdleTimeout       `yaml:"idleTimeout"`
	ConnectTimeoutMs int               `yaml:"connectTimeoutMs" env:"AGENT_CONNECT_TIMEOUT_MS" doc:"how long an agent may take to start, and then to open a session, in milliseconds"`
	PromptTimeoutMs  int               `yaml:"promptTimeoutMs" env:"AGENT_PROMPT_TIMEOUT_MS" doc:"how long one turn may take, in milliseconds; 0 sets no limit"`
	CancelGraceMs    int               `yaml:"cancelGraceMs" env:"AGENT_CANCEL_GRACE_MS" doc:"how long a cancelled turn may take to end before the agent is killed, in milliseconds"`
	EOFGraceMs       int               `yaml:"eofGraceMs" env:"AGENT_EOF_GRACE_MS" doc:"how long an agent may take to end once its standard input is closed, such as for its hooks at the end of a session, before it gets SIGTERM; in milliseconds"`
	TermGraceMs      int               `yaml:"termGraceMs" env:"AGENT_TERM_GRACE_MS" doc:"how long an agent may take to end after SIGTERM before it is killed, in milliseconds"`
	MaxProcesses     int               `yaml:"maxProcesses" env:"AGENT_MAX_PROCESSES" doc:"how many agents run at once; further sessions wait for one to end"`
	WarmSpare        int               `yaml:"warmSpare" env:"AGENT_WARM_SPARE" doc:"how many agents wait, started, for the next message of the workspaces that spoke last; where there is less than 4 GiB of memory it is 0"`

	GeminiAPIKey     secret.Value `yaml:"geminiApiKey" env:"GEMINI_API_KEY" doc:"given to the agent as GEMINI_API_KEY and GOOGLE_GENERATIVE_AI_API_KEY"`
	OpenCodeAPIKey   secret.Value `yaml:"opencodeApiKey" env:"OPENCODE_API_KEY" doc:"given to the agent as OPENCODE_API_KEY"`
	OpenRouterAPIKey secret.Value `yaml:"openRouterApiKey" env:"OPENROUTER_API_KEY" doc:"given to the agent as OPENROUTER_API_KEY"`
	AnthropicAPIKey  secret.Value `yaml:"anthropicApiKey" env:"ANTHROPIC_API_KEY" doc:"given to the agent as ANTHROPIC_API_KEY"`
	OpenAIAPIKey     secret.Value `yaml:"openaiApiKey" env:"OPENAI_API_KEY" doc:"given to the agent as OPENAI_API_KEY"`
	GitHubToken      secret.Value `yaml:"githubToken" env:"GITHUB_TOKEN" doc:"given to agents that sign in with GitHub; OpenCode does not get it"`

	MCPServers []MCPServer `yaml:"mcpServers" env:"AGENT_MCP_SERVERS" doc:"MCP servers of your own, handed to the agent"`
}

// Sandbox is what an agent may do and see besides its workspace.
type Sandbox struct {
	FilterEnv              bool     `yaml:"filterEnv" env:"AGENT_SANDBOX_FILTER_ENV" doc:"build the agent's environment from nothing; false hands on the environment of this program, secrets and all"`
	NetworkIsolation       bool     `yaml:"networkIsolation" env:"AGENT_SANDBOX_NETWORK_ISOLATION" doc:"start the agent without any network where the system allows it; it then reaches neither its model provider nor our tools"`
	AllowedEnvVars         []string `yaml:"allowedEnvVars" env:"AGENT_SANDBOX_ALLOWED_ENV_VARS" doc:"variables of this program that the agent may see"`
	AllowedWriteExtensions []string `yaml:"allowedWriteExtensions" env:"AGENT_SANDBOX_ALLOWED_WRITE_EXTENSIONS" doc:"endings of the files that the agent may write through us"`
	Unconfined             bool     `yaml:"unconfined" env:"AGENT_SANDBOX_UNCONFINED" doc:"run the agent without walls where the kernel has no Landlock"`
}

// IdleTimeout ends an agent that has gone silent in the middle of a turn.
type IdleTimeout struct {
	Enabled         bool `yaml:"enabled" env:"AGENT_IDLE_TIMEOUT_ENABLED" doc:"end a turn in which the agent has gone silent"`
	TimeoutMs       int  `yaml:"timeoutMs" env:"AGENT_IDLE_TIMEOUT_MS" doc:"how long an agent may be silent, in milliseconds"`
	CheckIntervalMs int  `yaml:"checkIntervalMs" env:"AGENT_IDLE_TIMEOUT_CHECK_INTERVAL_MS" doc:"how often that is checked, in milliseconds"`
}

// MCPServer is an MCP server of the operator's own.
type MCPServer struct {
	Name      string            `yaml:"name" doc:"unique name; tools appear under it"`
	Transport string            `yaml:"transport" doc:"stdio, http or sse"`
	Command   string            `yaml:"command" doc:"program of a stdio server, with its path"`
	Args      []string          `yaml:"args" doc:"arguments of command"`
	Env       map[string]string `yaml:"env" doc:"environment of a stdio server"`
	URL       string            `yaml:"url" doc:"address of an http or sse server"`
	Headers   map[string]string `yaml:"headers" doc:"headers of an http or sse server"`
	Trusted   bool              `yaml:"trusted" doc:"the built-in agent uses the server's tools without asking; what they bring stays foreign"`
}

// ourServer is the name of our own MCP server in every session.
const ourServer = "familiar"

// Defaults returns the section as it is when nothing is configured. The times are those of the behaviour that
// operators know; promptTimeoutMs and eofGraceMs are ours. Both graces of a close and the kill stay under five seconds.
func Defaults() Config {
	return Config{
		Kind:             "auto",
		Sandbox:          Sandbox{FilterEnv: true, AllowedWriteExtensions: []string{".md", ".txt"}},
		IdleTimeout:      IdleTimeout{Enabled: true, TimeoutMs: 300_000, CheckIntervalMs: 30_000},
		ConnectTimeoutMs: 30_000, PromptTimeoutMs: 30 * 60_000, CancelGraceMs: 10_000,
		EOFGraceMs: 1500, TermGraceMs: 2000, MaxProcesses: 4, WarmSpare: 1,
	}
}

// Check reports what cannot work, and drops what is incomplete.
func (c *Config) Check(r *setting.Report) {
	r.OneOf("kind", c.Kind, "auto", "acp", "builtin")
	if c.ID != "" && c.Command == "" {
		r.OneOf("id", c.ID, profile.IDs()...)
	}
	if c.Kind == "acp" && c.ID == "" && c.Command == "" {
		r.Missing("command")
	}
	r.AtLeast("connectTimeoutMs", &c.ConnectTimeoutMs, 100)
	r.AtLeast("promptTimeoutMs", &c.PromptTimeoutMs, 0)
	r.AtLeast("cancelGraceMs", &c.CancelGraceMs, 0)
	r.AtLeast("eofGraceMs", &c.EOFGraceMs, 0)
	r.AtLeast("termGraceMs", &c.TermGraceMs, 0)
	r.AtLeast("maxProcesses", &c.MaxProcesses, 1)
	r.AtLeast("warmSpare", &c.WarmSpare, 0)
	r.AtLeast("idleTimeout.timeoutMs", &c.IdleTimeout.TimeoutMs, 100)
	r.AtLeast("idleTimeout.checkIntervalMs", &c.IdleTimeout.CheckIntervalMs, 10)
	c.Sandbox.check(r.At("sandbox"))
	c.checkServers(r)
}

func (s *Sandbox) check(r *setting.Report) {
	if !s.FilterEnv {
		r.Warn("filterEnv", "is off: the agent sees the whole environment of this program, tokens included")
	}
	if s.NetworkIsolation {
		r.Warn("networkIsolation", "is on: the agent reaches neither a model provider nor our tools, so only one that needs neither can answer")
	}
	if s.Unconfined {
		r.Warn("unconfined", "is on: where the kernel has no Landlock, agents run without walls")
	}
	if s.AllowedWriteExtensions == nil {
		s.AllowedWriteExtensions = Defaults().Sandbox.AllowedWriteExtensions
	}
	s.AllowedWriteExtensions = slices.DeleteFunc(s.AllowedWriteExtensions, func(ending string) bool {
		bad := len(ending) < 2 || ending[0] != '.'
		if bad {
			r.Warn("allowedWriteExtensions", "%q does not start with a dot; it is left out", ending)
		}
		return bad
	})
}

func (c *Config) checkServers(r *setting.Report) {
	names := map[string]bool{ourServer: true}
	var good []MCPServer
	for i, s := range c.MCPServers {
		at := r.At(fmt.Sprintf("mcpServers[%d]", i))
		if key, say := s.fault(names); say != "" {
			at.Warn(key, "%s; the server is left out", say)
			continue
		}
		names[s.Name] = true
		good = append(good, s)
	}
	c.MCPServers = good
}

// fault says what is wrong with a server, and with which key; nothing when it is whole.
func (s MCPServer) fault(taken map[string]bool) (key, say string) {
	switch {
	case s.Name == "":
		return "name", "is required"
	case taken[s.Name]:
		return "name", fmt.Sprintf("%q is taken", s.Name)
	case s.Transport == "stdio" && s.Command == "":
		return "command", "is required for stdio"
	case (s.Transport == "http" || s.Transport == "sse") && s.URL == "":
		return "url", "is required for " + s.Transport
	case s.Transport != "stdio" && s.Transport != "http" && s.Transport != "sse":
		return "transport", fmt.Sprintf("%q is not one of stdio, http, sse", s.Transport)
	}
	return "", ""
}

// grace is how long each way of asking an agent to end may take.
func (c Config) grace(p profile.Profile) process.Grace {
	g := process.Grace{EOF: ms(c.EOFGraceMs), Term: ms(c.TermGraceMs)}
	if p.IgnoresEOF {
		g.EOF = 0
	}
	return g
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
