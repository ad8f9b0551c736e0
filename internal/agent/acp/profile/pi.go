package profile

// pi is the profile of the pi coding agent by its adapter pi-acp, tried with pi 1.6.0 and pi-acp 0.0.34. It never asks
// and takes no MCP servers, so it is unrestricted: nothing but the walls holds it, and it answers by the skills in its
// shell.
func pi(Operator) (Profile, error) {
	return Profile{
		Node:   24,
		Env:    map[string]string{"PI_OFFLINE": "1"}, // no look for updates at start; its model is asked all the same
		Logins: []string{".pi/agent/auth.json", ".pi/agent/models.json", ".pi/agent/settings.json"},
		Skills: ".pi/agent/skills",
		Rights: []string{".pi"},
	}, nil
}
