package profile

import (
	_ "embed"
	"time"
)

//go:embed gemini.json
var geminiSettings []byte

//go:embed gemini_login.json
var geminiLogin []byte

//go:embed gemini.toml
var geminiPolicy []byte

// geminiFile is where the settings lie that stand above all others: those of the workspace do not count against them.
const geminiFile = ".config/familiar/gemini.json"

// gemini is the profile of the Gemini CLI, tried with 0.61. Without a key the operator's own login is used. Of our
// fs it would misunderstand that a new file is not there yet, so it is not offered.
func gemini(o Operator) (Profile, error) {
	settings := geminiSettings
	if !o.has("GEMINI_API_KEY") {
		settings = geminiLogin
	}
	p := Profile{
		Args: []string{"--acp", "--admin-policy", "{home}/.config/familiar/gemini.toml"},
		Node: 20,
		Env: map[string]string{"GEMINI_CLI_SYSTEM_SETTINGS_PATH": "{home}/" + geminiFile, "GEMINI_CLI_NO_RELAUNCH": "true",
			"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_PTY_INFO": "child_process"},
		// The file of the system is skipped where a folder above it may be written by others.
		Files: map[string][]byte{geminiFile: settings, ".gemini/settings.json": settings, ".config/familiar/gemini.toml": geminiPolicy,
			".gemini/GEMINI.md": words},
		Logins: []string{".gemini/oauth_creds.json", ".gemini/google_accounts.json"},
		Skills: ".gemini/skills",
		Rights: []string{".gemini", ".env"},

		Restricted: true, Mode: "default", Yolo: "yolo",
		Oddities: Oddities{LostWhenCancelled: 2 * time.Second, CommandInTitle: true, OurTool: "{tool} (familiar MCP Server)"},
	}
	if o.Model != "" {
		p.Args = append(p.Args, "--model", o.Model)
	}
	return p, nil
}
