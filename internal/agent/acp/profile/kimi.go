package profile

// kimi is the profile of the Kimi CLI, from its documentation: it was not tried, so it counts as unrestricted.
func kimi(Operator) (Profile, error) {
	return Profile{
		Args:   []string{"acp"},
		Env:    map[string]string{"KIMI_DISABLE_TELEMETRY": "1"},
		Logins: []string{".kimi/config.toml", ".kimi/credentials", ".kimi-code/config.toml", ".kimi-code/credentials"},
		Skills: Skills,
		Rights: []string{".kimi", ".kimi-code"},
	}, nil
}
