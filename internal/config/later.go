package config

import (
	"regexp"
	"slices"
	"strings"
)

// What operators may know from the description of the whole, and what this build does not have yet. It is told
// apart from a mistyped word, so that nobody looks for the mistake in the spelling. A key that a section has is not
// looked up here, so an entry that has been built does no harm.
var (
	laterPlatforms = []string{"discord", "misskey", "telegram", "qq", "feishu", "wecom", "weixin", "webhook"}
	laterDesks     = []string{"workbench", "steward"}
	laterKeys      = []string{
		"llm.triageModel", "llm.subagents", "skills", "skill", "companion", "workbench", "steward", "google",
		"github", "weather", "home", "store", "gitBackup", "metrics",
		"bot.persona", "bot.assistantPersona", "bot.workspace",
		"agent.permissions", "agent.externalSkills", "agent.autoApproveSkills",
		"agent.gitCredential", "agent.sandbox.networkIsolation",
		"access.allowedUsers", "access.allowedChats", "access.requireMentionInGroup", "access.joinMs",
		"access.whileBusy", "access.channels[].spontaneousPost", "access.channels[].channelLurk",
		"outbox.pacing", "logging.gelf",
	}
	// laterVariables switch on what this build does not have.
	laterVariables = []string{"DISCORD_ENABLED", "MISSKEY_ENABLED", "METRICS_ENABLED",
		"AGENT_GIT_CREDENTIAL_ENABLED", "SELF_RESEARCH_ENABLED", "MEMORY_MAINTENANCE_ENABLED",
		"REMINDERS_ENABLED", "GIT_BACKUP_ENABLED", "SKILL_SEND_FILE_ENABLED"}
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

// isLater reports whether a key is known and not in this build.
func isLater(path string) bool {
	path = anIndex.ReplaceAllString(path, "[]")
	platform, ok := strings.CutPrefix(path, "platforms.")
	return ok && slices.Contains(laterPlatforms, platform) || slices.Contains(laterKeys, path)
}
