package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"familiar/internal/gate"
	"familiar/internal/secret"
)

func TestReplyPolicyOfTheEnvironment(t *testing.T) {
	cases := []struct {
		name    string
		environ []string
		want    gate.Policy
	}{
		{"AF-10 the alias alone, in the older word", []string{"REPLY_TO=whitelist"}, gate.ReplyChannels},
		{"AF-11 the real name beats the alias", []string{"REPLY_TO=public", "REPLY_POLICY=all"}, gate.ReplyAll},
		{"an empty real name counts as unset", []string{"REPLY_TO=public", "REPLY_POLICY="}, gate.ReplyPublic},
		{"neither", nil, gate.ReplyPublic},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := good(t, "version: 1\naccess: {replyPolicy: public}\n", c.environ...).Config.Access.ReplyPolicy; got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
	_, err := load(t, "version: 1\n", "REPLY_TO=friends")
	bad(t, err, `environment REPLY_TO: access.replyPolicy: "friends" is not one of`)
}

const threeEntries = "version: 1\naccess: {channels: [web/account/a, web/account/b, web/account/c]}\n"

// AF-13: the variable replaces the list of the file.
func TestChannelsOfTheEnvironment(t *testing.T) {
	l := good(t, threeEntries, `CHANNELS=["discord/account/12345678901234567"]`)
	if e := l.Config.Access.Channels; len(e) != 1 || e[0].ID != "discord/account/12345678901234567" {
		t.Errorf("entries: %+v", e)
	}
	l = good(t, threeEntries, `CHANNELS=[{"id":"web/account/d","enabled":false},"web/account/e"]`)
	if e := l.Config.Access.Channels; len(e) != 2 || !bool(e[0].Disabled) || e[1].ID != "web/account/e" {
		t.Errorf("entries: %+v", e)
	}
	_, err := load(t, threeEntries, `CHANNELS=[{"id":"web/account/d","enabeld":false}]`)
	bad(t, err, "environment CHANNELS: access.channels[0].enabeld: unknown key; did you mean enabled?")
}

// A variable that is not JSON is left out with a warning, and the list of the file stays.
func TestBadJSONIsLeftOut(t *testing.T) {
	for _, value := range []string{"{not json", `"web/account/d"`, `{"id":"web/account/d"}`, `[1,`, "web/account/d"} {
		l := good(t, threeEntries, "CHANNELS="+value)
		if e := l.Config.Access.Channels; len(e) != 3 {
			t.Errorf("%s: entries %+v", value, e)
		}
		warned(t, l, "environment CHANNELS: access.channels: is not")
	}
}

// A variable is read by the type of its key: digits stay text where text is expected.
func TestVariablesAreReadByType(t *testing.T) {
	l := good(t, "version: 1\n", "AGENT_MODEL=123456", "GEMINI_API_KEY=0012345678", "RATE_LIMIT_ENABLED=true",
		"RATE_LIMIT_WINDOW_MS=5", "AGENT_SANDBOX_ALLOWED_ENV_VARS= A , ,B", "HEALTH_PORT=9", "REPLY_TO=")
	c := l.Config
	if c.Agent.Model != "123456" || c.Agent.GeminiAPIKey.Reveal() != "0012345678" {
		t.Errorf("texts: %q, %q", c.Agent.Model, c.Agent.GeminiAPIKey.Reveal())
	}
	if !c.Access.RateLimit.Enabled || c.Access.RateLimit.WindowMs != 5 || c.Health.Port != 9 {
		t.Errorf("numbers: %+v, %+v", c.Access.RateLimit, c.Health)
	}
	if got := c.Agent.Sandbox.AllowedEnvVars; !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("list: %q", got)
	}
	_, err := load(t, "version: 1\n", "RATE_LIMIT_WINDOW_MS=soon", "RATE_LIMIT_ENABLED=perhaps")
	bad(t, err, "environment RATE_LIMIT_ENABLED: access.rateLimit.enabled", "environment RATE_LIMIT_WINDOW_MS: access.rateLimit.windowMs")
}

// AF-24: blanks are trimmed and empty words dropped.
func TestCommaList(t *testing.T) {
	got := good(t, "version: 1\n", "AUDIT_INCLUDED_PHASES= skill_call , ,reply_sent").Config.Audit.IncludedPhases
	if !slices.Equal(got, []string{"skill_call", "reply_sent"}) {
		t.Errorf("phases: %q", got)
	}
}

// AF-26: an unknown level is corrected, not refused.
func TestUnknownLogLevel(t *testing.T) {
	l := good(t, "version: 1\nlogging: {level: DEBUG}\n", "LOG_LEVEL=loud")
	if l.Config.Logging.Level != "INFO" {
		t.Errorf("level %q", l.Config.Logging.Level)
	}
	warned(t, l, "environment LOG_LEVEL: logging.level")
}

// BUG-L03: nothing is stripped from a value, so a short one stays whole.
func TestValuesAreTakenWhole(t *testing.T) {
	for _, value := range []string{"a", `"`, `'a`, `"a"`, "a=b"} {
		if got := good(t, "version: 1\n", "AGENT_MODEL="+value).Config.Agent.Model; got != value {
			t.Errorf("%q became %q", value, got)
		}
	}
}

func TestSecrets(t *testing.T) {
	dir := lay(t, map[string]string{
		"config.yaml": `
version: 1
agent:
  geminiApiKey: env:SECRET_ONE
  openaiApiKey: file:secrets/two
  anthropicApiKey: literal-three
  openRouterApiKey: "${SECRET_FOUR}"
  env: {SOME_TOKEN: token-five, MODE: production}
`,
		"secrets/two": "file-secret-two\n",
	})
	l, err := Load(Where{Dir: dir}, []string{"SECRET_ONE=env-secret-one", "SECRET_FOUR=variable-four", "OPENCODE_API_KEY=env:HOME", "HOME=/root"})
	if err != nil {
		t.Fatal(err)
	}
	a := l.Config.Agent
	for want, got := range map[string]secret.Value{
		"env-secret-one": a.GeminiAPIKey, "file-secret-two": a.OpenAIAPIKey, "literal-three": a.AnthropicAPIKey,
		"variable-four": a.OpenRouterAPIKey, "env:HOME": a.OpenCodeAPIKey,
	} {
		if got.Reveal() != want {
			t.Errorf("got %q, want %q", got.Reveal(), want)
		}
	}
	var vault secret.Vault
	vault.Know(l.Secrets...)
	said := "env-secret-one file-secret-two literal-three variable-four token-five"
	if masked := vault.Mask(said + " production"); masked != strings.Repeat(secret.Masked+" ", 5)+"production" {
		t.Errorf("masked: %s", masked)
	}
	var shown strings.Builder
	if err := l.Show(&shown); err != nil {
		t.Fatal(err)
	}
	for _, one := range append(strings.Fields(said), "production") {
		if strings.Contains(shown.String(), one) {
			t.Errorf("%s is shown", one)
		}
	}
}

func TestSecretsThatCannotBeHad(t *testing.T) {
	_, err := load(t, "version: 1\nagent: {geminiApiKey: \"file:gone\", openaiApiKey: [hidden-value]}\n")
	bad(t, err, "config.yaml:2:23: agent.geminiApiKey:", "agent.openaiApiKey: expected text")
	if strings.Contains(err.Error(), "hidden-value") {
		t.Errorf("a secret is shown: %v", err)
	}
	warned(t, good(t, "version: 1\nagent: {geminiApiKey: env:GONE}\n"), "agent.geminiApiKey: the variable GONE is not set")
}

// BUG-H10: a variable TZ in the form of POSIX, or any other that is no name, costs a warning and means UTC.
func TestAZoneOfTheMachineThatIsNone(t *testing.T) {
	for tz, warns := range map[string]bool{"IST-2": true, "EST5EDT,M3.2.0,M11.1.0": true, "Europe/Berlin": false, ":UTC": false, "": false,
		":/etc/localtime": false, "../../etc/passwd": true} {
		l, err := Load(Where{Dir: t.TempDir()}, []string{"TZ=" + tz})
		if err != nil {
			t.Errorf("%s: %v", tz, err)
		}
		if got := strings.Contains(fmt.Sprint(l.Warnings), "the variable TZ"); got != warns {
			t.Errorf("%s: %v", tz, l.Warnings)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("version: 1\nbot: {timezone: Asia/Taipei}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := Load(Where{Dir: dir}, []string{"TZ=IST-2"}); err != nil || strings.Contains(fmt.Sprint(l.Warnings), "TZ") || l.Config.Bot.Zone().String() != "Asia/Taipei" {
		t.Error(l.Warnings, err)
	}
}
