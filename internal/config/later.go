package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/setting"
)

// What operators may know from the description of the whole, and what this build does not have yet. It is told
// apart from a mistyped word, so that nobody looks for the mistake in the spelling. A key that a section has is not
// looked up here, so an entry that has been built does no harm.
var (
	laterPlatforms = []string{"telegram", "qq", "feishu", "wecom", "weixin"}
	laterDesks     = []string{"workbench", "steward"}
	laterKeys      = []string{
		"llm.triageModel", "llm.subagents", "skills", "workbench", "steward", "google",
		"github", "weather", "home", "store",
		"bot.persona", "bot.assistantPersona", "bot.workspace",
		"agent.permissions",
		"access.allowedUsers", "access.allowedChats", "access.requireMentionInGroup",
		"outbox.pacing",
	}
	// laterSwitches are keys that this build reads and checks as all others, and of what it cannot do yet: switched on,
	// or filled in where they are lists, they are refused. Now there are none.
	laterSwitches []string
)

// movedKeys are the older places of keys that have another now.
var movedKeys = map[string]string{
	"replyPolicy": "access.replyPolicy", "channels": "access.channels", "rateLimit": "access.rateLimit",
	"configVersion": "version", "gateway": "server, platforms and access", "runtime": "agent",
	"agent.defaultAgentType": "agent.id",
	"selfResearch":           "companion.selfResearch", "memoryMaintenance": "companion.memoryMaintenance",
	"reminders": "companion.reminders",
}

var anIndex = regexp.MustCompile(`\[\d+\]`)

// refuseLater reports the switches of laterSwitches that are on.
func refuseLater(r *setting.Report, c Config) {
	for _, path := range laterSwitches {
		list, key, inList := strings.Cut(path, "[].")
		v := at(reflect.ValueOf(c), list)
		if !inList {
			refuseIfOn(r, path, v)
			continue
		}
		for i := range v.Len() {
			refuseIfOn(r, fmt.Sprintf("%s[%d].%s", list, i, key), at(v.Index(i), key))
		}
	}
}

func refuseIfOn(r *setting.Report, path string, v reflect.Value) {
	if v.Kind() == reflect.Bool && v.Bool() || v.Kind() == reflect.Slice && v.Len() > 0 {
		r.Wrong(path, "is not in this build")
	}
}

// isLater reports whether a key is known and not in this build.
func isLater(path string) bool {
	path = anIndex.ReplaceAllString(path, "[]")
	platform, ok := strings.CutPrefix(path, "platforms.")
	return ok && slices.Contains(laterPlatforms, platform) || slices.Contains(laterKeys, path)
}
