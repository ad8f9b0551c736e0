// Package config is the one place where the configuration of a bot is put together: defaults, files, environment,
// flags, in this order, then a check. Each section belongs to the package that uses it; this package composes them,
// finds the place of every mistake, and makes the example, the schema and the reference out of the same structs.
//
// Nothing is guessed: an unknown key, a key that comes twice, a value of another type and a required value that is
// missing are errors, and all of them are told at once. Values of secrets appear in no text that this package makes.
package config

import (
	"fmt"
	"slices"
	"strings"

	"familiar/internal/agent/acp"
	"familiar/internal/agent/loop"
	"familiar/internal/audit"
	"familiar/internal/backup"
	"familiar/internal/briefing"
	"familiar/internal/chat"
	"familiar/internal/gate"
	"familiar/internal/llm"
	"familiar/internal/logging"
	"familiar/internal/memory"
	"familiar/internal/metrics"
	"familiar/internal/outbox"
	"familiar/internal/platform/web"
	"familiar/internal/platform/webhook"
	"familiar/internal/rehearsal"
	"familiar/internal/router"
	"familiar/internal/setting"
	"familiar/internal/skill"
	"familiar/internal/toolserver"
	"familiar/internal/workspace"
)

// Config is the whole configuration of one bot. Paths in it are as they were written; Loaded.Path resolves them.
type Config struct {
	Version   int               `yaml:"version" doc:"version of this format; 1 is the only one"`
	Bot       Bot               `yaml:"bot" doc:"who this bot is and whom it serves"`
	Agent     Agent             `yaml:"agent" doc:"who thinks for the bot"`
	LLM       LLM               `yaml:"llm" doc:"which model provider answers the built-in agent"`
	Platforms Platforms         `yaml:"platforms" doc:"where the bot is reached: a platform that is written here and not switched off is on, and the web when none is written"`
	Access    Access            `yaml:"access" doc:"who is heard"`
	Outbox    outbox.Config     `yaml:"outbox" doc:"what leaves the bot, and in which form"`
	Server    Server            `yaml:"server" doc:"the one listener: page, HTTP interface, webhooks"`
	SkillAPI  toolserver.Config `yaml:"skillApi" doc:"the listener on which agents call tools"`
	Health    Health            `yaml:"health" doc:"a second listener with nothing but probes"`
	Metrics   metrics.Config    `yaml:"metrics" doc:"what is counted, for a Prometheus server to fetch"`
	Memory    memory.Config     `yaml:"memory" doc:"what an agent is told of the past"`
	Logging   logging.Config    `yaml:"logging" doc:"what the program tells its operator"`
	Skill     Skill             `yaml:"skill" doc:"what the tools of an agent may do"`
	Companion Companion         `yaml:"companion" doc:"what a companion does besides answering"`
	GitBackup backup.Config     `yaml:"gitBackup" doc:"copies of the data in a Git repository"`
	Audit     audit.Config      `yaml:"audit" doc:"the record of what was heard, judged and done"`
	Workspace workspace.Config  `yaml:"workspace" doc:"where the data of people lies"`
}

// Platforms has one section for each platform that this build has.
type Platforms struct {
	Web     web.Config     `yaml:"web" doc:"the chat page of this bot"`
	Discord Discord        `yaml:"discord" doc:"a bot account on Discord"`
	Misskey Misskey        `yaml:"misskey" doc:"an account on a Misskey instance"`
	Webhook webhook.Config `yaml:"webhook" doc:"signed messages of programs of your own"`
}

// Agent is the section agent: what the process needs, and what the bot tells it.
type Agent struct {
	acp.Config `yaml:",inline"`
	Briefing   briefing.Config `yaml:",inline"`
	SkillsDir  string          `yaml:"skillsDir" env:"AGENT_SKILLS_DIR" doc:"folder of skills of your own"`
	Skills     skill.Config    `yaml:",inline"`

	GitCredential backup.Credential `yaml:"gitCredential" doc:"the login of the agent's own Git"`

	ModelRouting router.Config    `yaml:"modelRouting"`
	DryRun       rehearsal.Config `yaml:"dryRun"`
}

// LLM is the section llm: who answers the built-in agent, and how much it may ask.
type LLM struct {
	llm.Config `yaml:",inline"`
	Budgets    loop.Config `yaml:"budgets" doc:"how much one turn and one conversation of the built-in agent may cost"`
}

// Defaults returns the configuration without any file: a companion on its own page.
func Defaults() Config {
	return Config{
		Version: 1,
		Bot:     defaultBot(),
		Agent: Agent{Config: acp.Defaults(), Briefing: briefing.Defaults(), SkillsDir: "skills",
			ModelRouting: router.Defaults(), DryRun: rehearsal.Defaults()},
		LLM:       LLM{Config: llm.Defaults(), Budgets: loop.Defaults()},
		Platforms: Platforms{Web: web.Defaults(), Discord: defaultDiscord(), Misskey: defaultMisskey(), Webhook: webhook.Defaults()},
		Access:    defaultAccess(),
		Outbox:    outbox.Defaults(),
		Server:    defaultServer(),
		SkillAPI:  toolserver.Defaults(),
		Health:    defaultHealth(),
		Metrics:   metrics.Defaults(),
		Memory:    memory.Defaults(),
		Logging:   logging.Defaults(),
		Skill:     defaultSkill(),
		Companion: defaultCompanion(),
		GitBackup: backup.Defaults(),
		Audit:     audit.Defaults(),
		Workspace: workspace.Defaults(),
	}
}

// Check asks every section, and then what only the whole can tell.
func (c *Config) Check(r *setting.Report) {
	if c.Version != 1 {
		r.Wrong("version", "%d is not understood by this build; write 1", c.Version)
	}
	c.Bot.Check(r.At("bot"))
	c.Agent.Config.Check(r.At("agent"))
	c.Agent.Briefing.Check(r.At("agent"))
	c.Agent.Skills.Check(r.At("agent"))
	c.Agent.GitCredential.Check(r.At("agent.gitCredential"))
	c.Agent.ModelRouting.Check(r.At("agent.modelRouting"), gate.Target)
	c.Agent.DryRun.Check(r.At("agent.dryRun"))
	c.LLM.Config.Check(r.At("llm"))
	c.LLM.Budgets.Check(r.At("llm.budgets"))
	c.Platforms.Web.Check(r.At("platforms.web"))
	c.Platforms.Discord.Check(r.At("platforms.discord"))
	c.Platforms.Misskey.Check(r.At("platforms.misskey"))
	c.Platforms.Webhook.Check(r.At("platforms.webhook"))
	c.Access.Check(r.At("access"))
	c.Outbox.Check(r.At("outbox"))
	c.Server.Check(r.At("server"))
	c.SkillAPI.Check(r.At("skillApi"))
	c.Health.Check(r.At("health"))
	c.Metrics.Check(r.At("metrics"))
	c.Memory.Check(r.At("memory"))
	c.Logging.Check(r.At("logging"))
	c.Skill.Check(r.At("skill"))
	c.Companion.Check(r.At("companion"))
	c.GitBackup.Check(r.At("gitBackup"))
	c.Audit.Check(r.At("audit"))
	c.Workspace.Check(r.At("workspace"))
	if len(c.Platforms.On()) == 0 {
		r.Wrong("platforms", "no platform is on; add one, such as web: {}")
	}
	c.checkPorts(r)
}

// checkPorts finds two listeners on one port before the second of them fails to start.
func (c *Config) checkPorts(r *setting.Report) {
	type listener struct {
		key  string
		port int
	}
	all := []listener{{"server.port", c.Server.Port}}
	if c.SkillAPI.Enabled {
		all = append(all, listener{"skillApi.port", c.SkillAPI.Port})
	}
	if c.Health.Enabled {
		all = append(all, listener{"health.port", c.Health.Port})
	}
	for i, one := range all {
		for _, before := range all[:i] {
			if one.port != 0 && one.port == before.port {
				r.Wrong(one.key, "%d is the port of %s already", one.port, before.key)
			}
		}
	}
}

// Owners returns the accounts that own this bot. The holder of the token is one of them: person owner of the web.
func (c *Config) Owners() []chat.Person {
	owners := []chat.Person{{Platform: "web", ID: "owner"}}
	for platform, ids := range c.Bot.Owner {
		for _, id := range ids {
			owners = append(owners, chat.Person{Platform: platform, ID: id})
		}
	}
	slices.SortStableFunc(owners[1:], func(a, b chat.Person) int {
		return strings.Compare(fmt.Sprint(a.Platform, "/", a.ID), fmt.Sprint(b.Platform, "/", b.ID))
	})
	return owners
}
