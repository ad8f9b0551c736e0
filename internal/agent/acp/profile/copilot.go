package profile

// copilot is the profile of GitHub's Copilot CLI, tried with 1.0.102. It looks for the tools of an MCP server only
// when it searches for them; the skills in its shell do the same work.
func copilot(o Operator) (Profile, error) {
	p := Profile{
		Args: []string{"--acp", "--no-auto-update", "--no-remote", "--disable-builtin-mcps", "--no-custom-instructions",
			"--no-ask-user", "--disable-client-telemetry", "--log-level", "none", "--allow-tool", "familiar"},
		Logins: []string{".copilot/config.json"},
		Skills: ".copilot/skills",
		Rights: []string{".copilot", ".github", ".mcp.json", ".vscode"},

		Restricted: true,
		Oddities:   Oddities{GitHub: true},
	}
	if o.Model != "" {
		p.Args = append(p.Args, "--model", o.Model)
	}
	return p, nil
}
