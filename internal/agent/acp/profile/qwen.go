package profile

import (
	_ "embed"
	"time"
)

//go:embed qwen.json
var qwenSettings []byte

//go:embed qwen_login.json
var qwenLogin []byte

// qwenFile is where the settings lie that stand above all others.
const qwenFile = ".config/familiar/qwen.json"

// qwen is the profile of Qwen Code, tried with 0.24. It finds the tools of an MCP server only when it searches for
// them; the skills in its shell do the same work.
func qwen(o Operator) (Profile, error) {
	settings := qwenSettings
	env := map[string]string{"QWEN_CODE_SYSTEM_SETTINGS_PATH": "{home}/" + qwenFile, "QWEN_CODE_NO_RELAUNCH": "true"}
	if !o.has("OPENAI_API_KEY") {
		settings = qwenLogin
	}
	if o.Model != "" {
		env["OPENAI_MODEL"] = o.Model
	}
	return Profile{
		Args: []string{"--acp"},
		Node: 22, Env: env,
		Files:  map[string][]byte{qwenFile: settings, ".qwen/settings.json": settings, ".qwen/QWEN.md": words},
		Logins: []string{".qwen/oauth_creds.json"},
		Skills: ".qwen/skills",
		Rights: []string{".qwen", ".env", ".mcp.json"},

		Restricted: true, Mode: "default", Yolo: "yolo",
		Oddities: Oddities{LostWhenCancelled: 2 * time.Second, ErrorIn: []string{"details"}},
	}, nil
}
