package config

import (
	"strings"
	"testing"
	"time"

	"familiar/internal/setting"
)

func TestMistakes(t *testing.T) {
	cases := []struct {
		name, yaml string
		wants      []string
	}{
		{"BUG-J19 a mistyped key", "access:\n  replyPloicy: all\n", []string{"config.yaml:3:3: access.replyPloicy: unknown key; did you mean replyPolicy?"}},
		{"BUG-J19 a mistyped name in a list", "audit: {includedPhases: [skill_cal]}\n", []string{`audit.includedPhases: "skill_cal" is not one of`}},
		{"case", "Access: {}\n", []string{"config.yaml:2:1: Access: unknown key; did you mean access?"}},
		{"nothing near", "quux: 1\n", []string{"quux: unknown key"}},
		{"in a list entry", "access:\n  channels:\n    - {id: web/account/a, enabeld: false}\n", []string{"config.yaml:4:27: access.channels[0].enabeld: unknown key; did you mean enabled?"}},
		{"an older place", "replyPolicy: all\n", []string{"replyPolicy: unknown key; it is access.replyPolicy here"}},
		{"text for a number", "server: {port: high}\n", []string{`config.yaml:2:16: server.port: "high" is not a whole number`}},
		{"a tab", "server:\n\tport: 80\n", []string{"config.yaml:3:1: not YAML: the line is indented with a tab; indent with spaces"}},
		{"a quoted number", "server: {port: \"80\"}\n", []string{`server.port: "80" is text; write it without quotes`}},
		{"a fraction", "server: {port: 80.5}\n", []string{"is not a whole number"}},
		{"too many digits", "server: {port: 99999999999999999999}\n", []string{"is not a whole number of 64 bits"}},
		{"a time without end", "agent: {promptTimeoutMs: 9223372036854775807}\n", []string{"agent.promptTimeoutMs: 9223372036854775807 is more than a year"}},
		{"an octal", "server: {port: 0o17}\n", []string{"is not a whole number"}},
		{"a list for a number", "server: {port: [1]}\n", []string{"server.port: expected a whole number, found a list"}},
		{"a word for a switch", "health: {enabled: yes}\n", []string{`health.enabled: "yes" is not true or false`}},
		{"a switch for text", "bot: {name: true}\n", []string{"bot.name: expected text, found true"}},
		{"text for a list", "server: {allowedHosts: a}\n", []string{`server.allowedHosts: expected a list, found "a"`}},
		{"text for a mapping", "server: a\n", []string{"server: expected a mapping, found text"}},
		{"a list for a mapping", "server: []\n", []string{"server: expected a mapping, found a list"}},
		{"an empty entry", "access:\n  channels:\n    -\n    - web/account/a\n", []string{"config.yaml:4:6: access.channels[0]: the entry is empty"}},
		{"BUG-J06 a blank entry", "access:\n  channels:\n    - web/account/a\n    - \"\"\n", []string{"config.yaml:5:7: access.channels[1]: is blank"}},
		{"AF-12 an unknown policy", "access: {replyPolicy: friends}\n", []string{`config.yaml:2:23: access.replyPolicy: "friends" is not one of all, public, channels`}},
		{"a version of the future", "server: {}\n", nil},
		{"ports that meet", "server: {port: 3001}\n", []string{"skillApi.port: 3001 is the port of server.port already"}},
		{"a port out of range", "server: {port: 65536}\n", []string{"server.port: 65536 is no port"}},
		{"an owner of no platform", "bot: {owner: {dicsord: \"1\"}}\n", []string{"bot.owner.dicsord: is no platform; did you mean discord?"}},
		{"a blank owner", "bot: {owner: {discord: [\"\"]}}\n", []string{"bot.owner.discord[0]: is blank"}},
		{"a time zone", "bot: {timezone: Mars/Olympus}\n", []string{`bot.timezone: "Mars/Olympus" is no time zone`}},
		{"a name of two lines", "bot: {name: \"a\\nb\"}\n", []string{"config.yaml:2:13: bot.name: is not one line"}},
		{"a name without end", "bot: {name: " + strings.Repeat("x", 101) + "}\n", []string{"bot.name: is not one line of at most 100"}},
		{"a language", "bot: {language: tlh}\n", []string{`bot.language: "tlh" is not one of`}},
		{"a desk", "bot: {desk: companian}\n", []string{`bot.desk: "companian" is no desk`}},
		{"an id", "bot: {id: ../x}\n", []string{"bot.id:"}},
		{"a proxy", "server: {trustedProxies: [10.0.0.0/8, \"::1\", all]}\n", []string{`server.trustedProxies: "all"`}},
		{"an address", "server: {publicBaseUrl: bot.example.org}\n", []string{"server.publicBaseUrl: is not an address"}},
		{"a dangling variable", "bot: {name: \"${NAME\"}\n", []string{"config.yaml:2:13: ${ begins no ${NAME}"}},
		{"an older word for skill", "skills: {sendFile: {enabled: true}}\n", []string{"skills: unknown key; it is skill here"}},
		{"AF-3 a token from a variable that is not set", "platforms:\n  web: {}\n  discord:\n    token: \"${DISCORD_TOKEN}\"\n", []string{
			"config.yaml:5:12: platforms.discord.token: is required; the variable DISCORD_TOKEN is not set"}},
		{"a required value from a variable that is not set", "bot: {name: \"${NOPE}\"}\n", []string{"bot.name: is required; the variable NOPE is not set"}},
		{"a value from a variable that is not set", "outbox: {overflow: \"${NOPE}\"}\n", []string{`outbox.overflow: "" is not one of split, truncate; the variable NOPE is not set`}},
		{"a secret from a variable that is not set", "platforms: {web: {}, misskey: {host: a, token: env:NOPE}}\n", []string{
			"platforms.misskey.token: is required; the variable NOPE is not set"}},
		{"a key that comes twice, and more", "bot: {name: a, name: b}\nacess: {}\nserver: {port: x}\n", []string{
			"config.yaml:2:16: name: duplicate key", "config.yaml:3:1: acess: unknown key", `config.yaml:4:16: server.port: "x" is not`}},
		{"a login in the address of the backup", "gitBackup: {remoteUrl: \"https://a:b@example.org/x.git\"}\n", []string{"gitBackup.remoteUrl: holds a login"}},
		{"a file of reminders elsewhere", "companion: {reminders: {persistPath: ../x.jsonl}}\n", []string{"companion.reminders.persistPath: "}},
		{"many at once", "acess: {}\nserver: {port: x, host: \"\"}\nbot: {name: \" \"}\n", []string{
			"config.yaml:2:1: acess", "config.yaml:3:16: server.port", "config.yaml:3:25: server.host: is required", "config.yaml:4:13: bot.name: is required"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(t, "version: 1\n"+c.yaml)
			if c.wants == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			bad(t, err, c.wants...)
		})
	}
}

func TestVersion(t *testing.T) {
	_, err := load(t, "version: 2\n")
	bad(t, err, "config.yaml:1:10: version: 2 is not understood by this build")
	warned(t, good(t, "bot: {}\n"), "version: is not there")
}

func TestNotInThisBuild(t *testing.T) {
	for _, yaml := range []string{
		"platforms: {web: {}, telegram: {}}",
		"llm: {triageModel: x}", "llm: {subagents: {}}", "store: {url: \"sqlite:\"}",
		"access: {allowedUsers: []}",
		"bot: {desk: steward}", "bot: {desk: workbench}",
	} {
		_, err := load(t, "version: 1\n"+yaml+"\n")
		bad(t, err, "not in this build")
	}
}

// Every switch of what is to come is a key, and off by default.
func TestLaterSwitchesAreKeys(t *testing.T) {
	var r setting.Report
	refuseLater(&r, Defaults()) // a path that is no key panics
	if found := r.Problems(); len(found) > 0 {
		t.Errorf("on by default: %+v", found)
	}
}

// The list of what is to come must not hide what is there: its keys are no longer looked up once they are built, and
// a leftover would be wrong in the documents.
func TestLaterKeysAreNotBuilt(t *testing.T) {
	built := make(map[string]bool)
	for _, s := range good(t, "version: 1\n").Settings() {
		for path := s.Path; path != ""; path = path[:max(strings.LastIndexByte(path, '.'), 0)] {
			built[path] = true
		}
	}
	for _, key := range laterKeys {
		if built[key] {
			t.Errorf("%s is in this build", key)
		}
	}
}

func TestZone(t *testing.T) {
	if got := good(t, "version: 1\nbot: {timezone: Asia/Taipei}\n").Config.Bot.Zone().String(); got != "Asia/Taipei" {
		t.Errorf("zone %s", got)
	}
	if got := good(t, "version: 1\n").Config.Bot.Zone(); got != time.Local {
		t.Errorf("zone %s", got)
	}
}

func TestValuesThatMayBeWrittenInSeveralWays(t *testing.T) {
	l := good(t, `
version: 1
bot:
  name: 7
  language: zh-tw
  owner: {discord: 12345678901234567, web: [a, b]}
access:
  channels:
    - web/account/a
    - {id: discord/account/12345678901234567, enabled: false, rateLimitBypass: true}
    - {id: misskey/timeline/self, enabled: "no", yolo: "true"}
    - {id: web/account/b}
`)
	c := l.Config
	if c.Bot.Name != "7" || c.Bot.Language != "zh-TW" || len(c.Bot.Owner["web"]) != 2 {
		t.Errorf("bot: %+v", c.Bot)
	}
	if ids := c.Bot.Owner["discord"]; len(ids) != 1 || ids[0] != "12345678901234567" {
		t.Errorf("the id became %v", ids)
	}
	owners := c.Owners()
	if len(owners) != 4 || owners[0].Platform != "web" || owners[0].ID != "owner" || owners[1].Platform != "discord" {
		t.Errorf("owners: %v", owners)
	}
	// AF-16: no enabled and enabled "no" both mean on, only a literal false disables.
	// AF-15: our own timeline is accepted.
	e := c.Access.Channels
	if len(e) != 4 || bool(e[0].Disabled) || !bool(e[1].Disabled) || bool(e[2].Disabled) || bool(e[3].Disabled) {
		t.Errorf("entries: %+v", e)
	}
	if !bool(e[1].RateLimitBypass) || bool(e[2].Yolo) {
		t.Errorf("flags: %+v", e)
	}
}

// AF-14: a bad id is dropped with a warning that names its place, and the start continues.
func TestBadEntryIsDropped(t *testing.T) {
	l := good(t, "version: 1\naccess:\n  channels:\n    - discord/account/1234567890123456\n    - web/account/a\n")
	if e := l.Config.Access.Channels; len(e) != 1 || e[0].ID != "web/account/a" {
		t.Errorf("entries: %+v", e)
	}
	warned(t, l, "config.yaml:4:7: access.channels[0]")
}

func TestVariablesInTexts(t *testing.T) {
	l := good(t, `
version: 1
bot: {name: "a ${WORD} $${WORD} $WORD", timezone: "${ZONE}"}
server: {port: "${PORT}", shutdownMs: "${GONE}", host: "${HOST}"}
health: {enabled: "${ON}"}
`, "WORD=b: ${X}", "PORT=80", "HOST=::1", "ON=true")
	if got := l.Config.Bot.Name; got != "a b: ${X} ${WORD} $WORD" {
		t.Errorf("name %q", got)
	}
	if s := l.Config.Server; s.Port != 80 || s.ShutdownMs != 20_000 || s.Host != "::1" || !l.Config.Health.Enabled {
		t.Errorf("got %+v, %+v", s, l.Config.Health)
	}
	warned(t, l, "the variable GONE is not set")
}

// A variable that is not set leaves a required value missing, named with its place.
func TestUnsetVariableIsMissing(t *testing.T) {
	_, err := load(t, "version: 1\nserver:\n  host: \"${GONE}\"\n")
	bad(t, err, "config.yaml:3:9: server.host: is required")
}
