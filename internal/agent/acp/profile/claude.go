package profile

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed claude.json
var claudeSettings []byte

// claudeAside are tools that would wait for somebody at a terminal, work behind our back, or let the agent set its
// own rules.
var claudeAside = []string{"AskUserQuestion", "WebSearch", "Task", "Agent", "EnterPlanMode", "ExitPlanMode", "EnterWorktree",
	"ExitWorktree", "CronCreate", "CronDelete", "CronList", "RemoteTrigger", "TeamCreate", "SendMessage", "Monitor"}

// claude is the profile of claude-agent-acp, tried with 0.23. Its settings are ours alone: what lies in the workspace
// does not count. It wants to be told that it stands in a sandbox before it runs for root.
func claude(Operator) (Profile, error) {
	type options struct {
		SettingSources  []string `json:"settingSources"`
		DisallowedTools []string `json:"disallowedTools"`
	}
	type meta struct {
		SystemPrompt struct {
			Append string `json:"append"`
		} `json:"systemPrompt"`
		ClaudeCode struct {
			Options options `json:"options"`
		} `json:"claudeCode"`
	}
	var m meta
	m.SystemPrompt.Append = string(words)
	m.ClaudeCode.Options = options{[]string{"user"}, claudeAside}
	raw, err := json.Marshal(m)
	if err != nil {
		return Profile{}, fmt.Errorf("write the options of Claude Code: %w", err)
	}
	return Profile{
		Node: 18,
		Env: map[string]string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
			"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
			"CLAUDE_CODE_TMPDIR":                   "{tmp}"},
		RootEnv: map[string]string{"IS_SANDBOX": "1"},
		Files:   map[string][]byte{".claude/settings.json": claudeSettings},
		Logins:  []string{".claude/.credentials.json"},
		Skills:  ".claude/skills",
		Meta:    raw,
		Rights:  []string{".claude", ".mcp.json"},

		Restricted: true, Mode: "default", Yolo: "bypassPermissions",
		Oddities: Oddities{IgnoresEOF: true, RetryEmpty: true},
	}, nil
}
