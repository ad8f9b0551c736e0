package config

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"familiar/internal/setting"
)

// AF-2: the list of the environment's file takes the place of the base's; the two are not joined.
func TestGuildsAreReplacedWhole(t *testing.T) {
	dir := lay(t, map[string]string{
		"config.yaml":             "version: 1\nplatforms: {web: {}, discord: {enabled: false, guildIds: [a, b]}}\n",
		"config.development.yaml": "platforms: {discord: {guildIds: [c]}}\n",
	})
	l, err := Load(Where{Dir: dir}, nil)
	if err != nil || !slices.Equal(l.Config.Platforms.Discord.GuildIDs, []string{"c"}) {
		t.Fatalf("got %q, %v", l.Config.Platforms.Discord.GuildIDs, err)
	}
}

// AF-6: credentials are required only of platforms that are on. That Misskey cannot be switched on in this build is
// another matter, and not asked here.
func TestTokensOfPlatformsThatAreOff(t *testing.T) {
	check := func(change func(*Platforms)) []string {
		c := Defaults()
		c.Platforms.Web.Enabled = false
		change(&c.Platforms)
		var r setting.Report
		c.Check(&r)
		var wrong []string
		for _, p := range r.Problems() {
			if p.Severity == setting.Fatal {
				wrong = append(wrong, p.Path)
			}
		}
		return wrong
	}
	set := good(t, "version: 1\n", "MISSKEY_TOKEN=a-token", "MISSKEY_HOST=misskey.example.org").Config.Platforms.Misskey
	if wrong := check(func(p *Platforms) { p.Misskey = set; p.Misskey.Enabled = true }); len(wrong) > 0 {
		t.Errorf("only Misskey: %q", wrong)
	}
	if wrong := check(func(p *Platforms) { p.Misskey.Enabled = true }); !slices.Equal(wrong, []string{"platforms.misskey.host", "platforms.misskey.token"}) {
		t.Errorf("Misskey without a token: %q", wrong)
	}
	if wrong := check(func(p *Platforms) { p.Discord.Enabled = true }); !slices.Equal(wrong, []string{"platforms.discord.token"}) {
		t.Errorf("Discord without a token: %q", wrong)
	}
}

// A variable makes no platform present, so a token in the environment neither adds a platform nor drops the page.
func TestAVariableMakesNoPlatformPresent(t *testing.T) {
	for _, yaml := range []string{"version: 1\n", "version: 1\nplatforms: {web: {}}\n",
		"version: 1\nplatforms: {web: {}, discord: {enabled: \"${NOPE}\"}}\n"} {
		c := good(t, yaml, "DISCORD_TOKEN=a-token").Config
		if got := c.Platforms.On(); !slices.Equal(got, []string{"web"}) || c.Platforms.Discord.Token.Reveal() != "a-token" {
			t.Errorf("%q: on are %q", yaml, got)
		}
	}
}

func TestCorrections(t *testing.T) {
	cases := []struct {
		name, yaml string
		environ    []string
		ok         func(Config) bool
		warnings   int
	}{
		{"AF-17 exchanged", "platforms: {web: {}, discord: {enabled: false, spontaneousPost: {minIntervalMs: 7200000, maxIntervalMs: 3600000}}}", nil,
			func(c Config) bool {
				s := c.Platforms.Discord.SpontaneousPost
				return s.MinIntervalMs == 3_600_000 && s.MaxIntervalMs == 7_200_000
			}, 1},
		{"AF-17 exchanged, on Misskey by variables", "", []string{"MISSKEY_SPONTANEOUS_MIN_INTERVAL_MS=7200000", "MISSKEY_SPONTANEOUS_MAX_INTERVAL_MS=3600000"},
			func(c Config) bool {
				m, d := c.Platforms.Misskey.SpontaneousPost, c.Platforms.Discord.SpontaneousPost
				return m.MinIntervalMs == 3_600_000 && m.MaxIntervalMs == 7_200_000 && d.MinIntervalMs == 10_800_000
			}, 1},
		{"AF-18 both raised", "platforms: {web: {}, discord: {enabled: false, spontaneousPost: {minIntervalMs: 1000, maxIntervalMs: 30000}}}", nil,
			func(c Config) bool {
				s := c.Platforms.Discord.SpontaneousPost
				return s.MinIntervalMs == 60_000 && s.MaxIntervalMs == 60_000
			}, 2},
		{"AF-19 above one", "platforms: {web: {}, discord: {enabled: false, spontaneousPost: {contextFetchProbability: 1.7}}}", nil,
			func(c Config) bool { return c.Platforms.Discord.SpontaneousPost.ContextFetchProbability == 1 }, 1},
		{"AF-19 below zero", "", []string{"DISCORD_SPONTANEOUS_CONTEXT_FETCH_PROBABILITY=-1"},
			func(c Config) bool { return c.Platforms.Discord.SpontaneousPost.ContextFetchProbability == 0 }, 1},
		{"lurking", "", []string{"DISCORD_CHANNEL_LURK_INTERVAL_MS=1"},
			func(c Config) bool { return c.Platforms.Discord.ChannelLurk.IntervalMs == 60_000 }, 1},
		{"AF-20 research without a feed", "companion: {selfResearch: {enabled: true, model: x}}", nil,
			func(c Config) bool { return !c.Companion.SelfResearch.Enabled }, 1},
		{"research without a model", "", []string{"SELF_RESEARCH_ENABLED=true", `SELF_RESEARCH_RSS_FEEDS=[{"url":"https://example.org/"},{"url":" "}]`},
			func(c Config) bool {
				return !c.Companion.SelfResearch.Enabled && len(c.Companion.SelfResearch.RSSFeeds) == 1
			}, 2},
		{"research too often, either way round", "companion: {selfResearch: {minIntervalMs: 7200000, maxIntervalMs: 60000}}", nil,
			func(c Config) bool {
				s := c.Companion.SelfResearch
				return s.MinIntervalMs == 3_600_000 && s.MaxIntervalMs == 7_200_000
			}, 2},
		{"AF-21 upkeep", "companion: {memoryMaintenance: {minMemoryCount: 3, intervalMs: 5}}", nil,
			func(c Config) bool {
				m := c.Companion.MemoryMaintenance
				return m.MinMemoryCount == 10 && m.IntervalMs == 3_600_000
			}, 2},
		{"upkeep without a model", "companion: {memoryMaintenance: {enabled: true, model: \" \"}}", nil,
			func(c Config) bool { return !c.Companion.MemoryMaintenance.Enabled }, 1},
		{"AF-22 reminders", "companion: {reminders: {minIntervalMs: 1, checkIntervalMs: 1, maxRemindersPerUser: 0}}", nil,
			func(c Config) bool {
				r := c.Companion.Reminders
				return r.MinIntervalMs == 10_000 && r.CheckIntervalMs == 5_000 && r.MaxRemindersPerUser == 1
			}, 3},
		{"a backup to nowhere", "gitBackup: {enabled: true}", nil, func(c Config) bool { return !c.GitBackup.Enabled }, 1},
		{"an external skill without its name", "", []string{`AGENT_EXTERNAL_SKILLS=[{"repo":"a/b"}]`},
			func(c Config) bool { return len(c.Agent.Skills.ExternalSkills) == 0 }, 1},
		{"endings of files", "", []string{"SKILL_SEND_FILE_ALLOWED_EXTENSIONS=.PNG, jpg", "SKILL_SEND_FILE_MAX_FILE_SIZE_MB=0.5"},
			func(c Config) bool {
				s := c.Skill.SendFile
				return slices.Equal(s.AllowedExtensions, []string{".png", ".jpg"}) && s.MaxFileSizeMB == 0.5
			}, 1},
		{"a size that is none", "skill: {sendFile: {maxFileSizeMb: -1}}", nil, func(c Config) bool { return c.Skill.SendFile.MaxFileSizeMB == 25 }, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := good(t, "version: 1\n"+c.yaml+"\n", c.environ...)
			if !c.ok(l.Config) {
				t.Errorf("got %+v, %+v, %+v, %+v", l.Config.Platforms, l.Config.Companion, l.Config.Skill, l.Config.GitBackup)
			}
			if len(l.Warnings) != c.warnings {
				t.Errorf("want %d warnings, got:\n%v", c.warnings, l.Warnings)
			}
		})
	}
}

// AF-23: digits stay text where text is expected.
func TestDigitsOfAPassword(t *testing.T) {
	if got := good(t, "version: 1\n", "GIT_BACKUP_AUTH_PASSWORD=00123456").Config.GitBackup.AuthPassword.Reveal(); got != "00123456" {
		t.Errorf("the password is %q", got)
	}
	c := good(t, "version: 1\n", "GIT_BACKUP_AUTH_PASSWORD=123456", "GITHUB_TOKEN=another-token").Config
	if got := c.GitBackup.AuthPassword.Reveal(); got != "123456" {
		t.Errorf("the password is %q", got)
	}
	user, password := c.GitBackup.Login(c.Agent.GitHubToken)
	if user != c.GitBackup.AuthorEmail || password.Reveal() != "123456" {
		t.Errorf("the login is %q, %q", user, password.Reveal())
	}
	c.GitBackup.AuthPassword = Defaults().GitBackup.AuthPassword
	if _, password = c.GitBackup.Login(c.Agent.GitHubToken); password.Reveal() != "another-token" {
		t.Errorf("without a password of its own: %q", password.Reveal())
	}
}

// AF-9: what is not JSON is left out with a warning, and the rules of the file stay.
func TestRulesThatAreNotJSON(t *testing.T) {
	yaml := "version: 1\nagent:\n  modelRouting:\n    enabled: true\n    rules:\n      - {match: {sessionType: message}, model: a}\n"
	l := good(t, yaml, "MODEL_ROUTING_RULES={not json")
	if rules := l.Config.Agent.ModelRouting.Rules; len(rules) != 1 || rules[0].Model != "a" {
		t.Errorf("rules: %+v", rules)
	}
	warned(t, l, "environment MODEL_ROUTING_RULES: agent.modelRouting.rules: is not JSON; the variable is left out")
	if len(l.Warnings) != 1 {
		t.Errorf("warnings:\n%v", l.Warnings)
	}
}

// Every variable of the description counts for its key.
func TestVariablesOfTheDescription(t *testing.T) {
	described := strings.Fields(`
		DISCORD_ENABLED DISCORD_TOKEN DISCORD_TYPING_INDICATOR_ENABLED DISCORD_SPONTANEOUS_ENABLED
		DISCORD_SPONTANEOUS_MIN_INTERVAL_MS DISCORD_SPONTANEOUS_MAX_INTERVAL_MS
		DISCORD_SPONTANEOUS_CONTEXT_FETCH_PROBABILITY DISCORD_CHANNEL_LURK_ENABLED DISCORD_CHANNEL_LURK_INTERVAL_MS
		MISSKEY_ENABLED MISSKEY_HOST MISSKEY_TOKEN MISSKEY_SPONTANEOUS_ENABLED MISSKEY_SPONTANEOUS_MIN_INTERVAL_MS
		MISSKEY_SPONTANEOUS_MAX_INTERVAL_MS MISSKEY_SPONTANEOUS_CONTEXT_FETCH_PROBABILITY
		REPLY_POLICY REPLY_TO CHANNELS RATE_LIMIT_ENABLED RATE_LIMIT_MAX_REQUESTS_PER_WINDOW RATE_LIMIT_WINDOW_MS
		RATE_LIMIT_COOLDOWN_MS AGENT_MODEL AGENT_DEFAULT_TYPE GEMINI_API_KEY OPENCODE_API_KEY OPENROUTER_API_KEY
		GITHUB_TOKEN AGENT_SKILLS_DIR AGENT_CONNECT_TIMEOUT_MS AGENT_IDLE_TIMEOUT_ENABLED AGENT_IDLE_TIMEOUT_MS
		AGENT_IDLE_TIMEOUT_CHECK_INTERVAL_MS AGENT_SANDBOX_FILTER_ENV AGENT_SANDBOX_NETWORK_ISOLATION
		AGENT_SANDBOX_ALLOWED_ENV_VARS AGENT_SANDBOX_ALLOWED_WRITE_EXTENSIONS AGENT_AUTO_APPROVE_SKILLS
		AGENT_EXTERNAL_SKILLS MODEL_ROUTING_ENABLED MODEL_ROUTING_RULES DRY_RUN_ENABLED DRY_RUN_OUTPUT_PATH
		DRY_RUN_MOCK_REPLY AGENT_GIT_CREDENTIAL_ENABLED AGENT_GIT_CREDENTIAL_HOST AGENT_MCP_SERVERS HEALTH_PORT
		METRICS_ENABLED METRICS_PATH LOG_LEVEL GELF_ENABLED GELF_ENDPOINT GELF_HOSTNAME GELF_PROTOCOL GELF_COMPRESS
		AUDIT_ENABLED AUDIT_RETENTION_DAYS AUDIT_HASH_CONTENT AUDIT_INCLUDED_PHASES SELF_RESEARCH_ENABLED
		SELF_RESEARCH_MODEL SELF_RESEARCH_RSS_FEEDS SELF_RESEARCH_MIN_INTERVAL_MS SELF_RESEARCH_MAX_INTERVAL_MS
		MEMORY_MAINTENANCE_ENABLED MEMORY_MAINTENANCE_MODEL MEMORY_MAINTENANCE_MIN_MEMORY_COUNT
		MEMORY_MAINTENANCE_INTERVAL_MS REMINDERS_ENABLED REMINDERS_MAX_PER_USER REMINDERS_MIN_INTERVAL_MS
		REMINDERS_CHECK_INTERVAL_MS REMINDERS_PERSIST_PATH GIT_BACKUP_ENABLED GIT_BACKUP_REMOTE_URL
		GIT_BACKUP_INTERVAL_MS GIT_BACKUP_AUTHOR_NAME GIT_BACKUP_AUTHOR_EMAIL GIT_BACKUP_AUTH_USER
		GIT_BACKUP_AUTH_PASSWORD SKILL_SEND_FILE_ENABLED SKILL_SEND_FILE_MAX_SIZE_MB SKILL_SEND_FILE_MAX_FILE_SIZE_MB
		SKILL_SEND_FILE_ALLOWED_EXTENSIONS`)
	known := make(map[string]string)
	for _, l := range leaves(reflect.TypeFor[Config]()) {
		for _, name := range l.env {
			if known[name] != "" {
				t.Errorf("%s is read for %s and for %s", name, known[name], l.path)
			}
			known[name] = l.path
		}
	}
	for _, name := range described {
		if known[name] == "" {
			t.Errorf("%s is read for no key", name)
		}
	}
}

func TestTheFileOfAnEnvironmentMayBeJSON(t *testing.T) {
	dir := lay(t, map[string]string{"config.json": `{"version": 1}`, "config.production.yaml": "outbox: {maxParts: 2}\n"})
	l, err := Load(Where{Dir: dir}, []string{"APP_ENV=production"})
	if err != nil || l.Config.Outbox.MaxParts != 2 || len(l.Files) != 2 || filepath.Ext(l.Files[0]) != ".json" {
		t.Fatalf("got %v, %v", l.Files, err)
	}
}
