package gate

import (
	"encoding/json"
	"strings"
	"testing"

	"familiar/internal/setting"
)

func check(c *Config) []setting.Problem {
	var r setting.Report
	c.Check(r.At("access"))
	return r.Problems()
}

func TestDefaultsPassTheCheck(t *testing.T) {
	c := Defaults()
	if found := check(&c); len(found) > 0 {
		t.Fatalf("problems: %+v", found)
	}
}

// AF-10: whitelist is the older word for channels.
func TestOlderWordForChannels(t *testing.T) {
	c := list("whitelist")
	if found := check(&c); len(found) > 0 || c.ReplyPolicy != ReplyChannels {
		t.Fatalf("policy %q, problems %+v", c.ReplyPolicy, found)
	}
}

// AF-12: the error lists the three words.
func TestUnknownPolicy(t *testing.T) {
	c := list("friends")
	found := check(&c)
	if len(found) != 1 || found[0].Severity != setting.Fatal || found[0].Path != "access.replyPolicy" {
		t.Fatalf("got %+v", found)
	}
	for _, word := range []string{"friends", "all", "public", "channels"} {
		if !strings.Contains(found[0].Say, word) {
			t.Errorf("%q does not name %s", found[0].Say, word)
		}
	}
}

func TestEntryGrammar(t *testing.T) {
	const kept, dropped, fatal = "kept", "dropped", "fatal"
	cases := []struct{ name, id, want string }{
		{"17 digits", "discord/account/12345678901234567", kept},
		{"20 digits", "discord/channel/12345678901234567890", kept},
		{"AF-14 16 digits", "discord/account/1234567890123456", dropped},
		{"21 digits", "discord/account/123456789012345678901", dropped},
		{"AF-15 our own timeline", "misskey/timeline/self", kept},
		{"another timeline", "misskey/timeline/home", dropped},
		{"Misskey account", "misskey/account/9a-_.@host", kept},
		{"note", "misskey/channel/note:9abc", kept},
		{"direct note", "misskey/channel/dm:9abc", kept},
		{"chat", "misskey/channel/chat:9abc", kept},
		{"another prefix", "misskey/channel/room:9abc", dropped},
		{"a prefix on an account", "misskey/account/note:9abc", dropped},
		{"web account", "web/account/friend", kept},
		{"web channel", "web/channel/s:1", kept},
		{"webhook account", "webhook/account/+49 30/ann@例", kept},
		{"webhook channel", "webhook/channel/room:1", kept},
		{"a webhook id with a second line", "webhook/channel/a\nb", dropped},
		{"a webhook id with a space at its end", "webhook/channel/a ", dropped},
		{"a webhook id that is too long", "webhook/channel/" + strings.Repeat("x", 257), dropped},
		{"unknown platform", "irc/account/ann", dropped},
		{"upper case", "Discord/account/12345678901234567", dropped},
		{"no id", "discord/account", dropped},
		{"a bare id", "12345678901234567", dropped},
		{"space inside", "misskey/account/a b", dropped},
		{"a second line", "misskey/account/a\nb", dropped},
		{"everybody", "*", kept},
		{"BUG-J06 blank", "", fatal},
		{"BUG-J06 white space", " \t", fatal},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			config := list(ReplyChannels, "web/account/first", c.id)
			found := check(&config)
			got := kept
			switch {
			case len(found) > 0 && found[0].Severity == setting.Fatal:
				got = fatal
			case len(config.Channels) == 1:
				got = dropped
			}
			if got != c.want {
				t.Fatalf("%q is %s, want %s: %+v", c.id, got, c.want, found)
			}
			if got != kept && (len(found) != 1 || found[0].Path != "access.channels[1]") {
				t.Fatalf("want one problem at access.channels[1], got %+v", found)
			}
		})
	}
}

func TestEverybodyIsShownAsSuch(t *testing.T) {
	c := list(ReplyChannels, "*")
	if found := check(&c); len(found) != 1 || found[0].Severity != setting.Warning || !strings.Contains(found[0].Say, "everybody") {
		t.Fatalf("got %+v", found)
	}
}

// AF-16, the flags: only a literal false disables, only a literal true enables.
func TestFlagsAreLiteral(t *testing.T) {
	for text, want := range map[string][2]bool{
		`true`: {true, false}, `false`: {false, true}, `"true"`: {}, `"false"`: {}, `"no"`: {}, `1`: {}, `0`: {}, `{}`: {},
	} {
		var yes LiteralTrue
		var no LiteralFalse
		if err := json.Unmarshal([]byte(text), &yes); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &no); err != nil {
			t.Fatal(err)
		}
		if bool(yes) != want[0] || bool(no) != want[1] {
			t.Errorf("%s: got %v and %v, want %v", text, yes, no, want)
		}
	}
	if shown, _ := json.Marshal(LiteralFalse(true)); string(shown) != "false" {
		t.Errorf("an entry that is off shows enabled: %s", shown)
	}
}

func TestRateLimitIsCorrected(t *testing.T) {
	c := Defaults()
	c.RateLimit = Rate{MaxRequestsPerWindow: 0, WindowMs: -5, CooldownMs: -1}
	if found := check(&c); len(found) != 3 || c.RateLimit != (Rate{MaxRequestsPerWindow: 1, WindowMs: 1}) {
		t.Fatalf("got %+v, %+v", c.RateLimit, found)
	}
}
