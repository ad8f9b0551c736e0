package config

import (
	"slices"
	"testing"

	"familiar/internal/gate"
)

func TestChanged(t *testing.T) {
	base := good(t, "version: 1\nagent: {geminiApiKey: one-secret}\n").Config
	if got := Changed(base, base); len(got) > 0 {
		t.Errorf("nothing changed, got %q", got)
	}
	other := good(t, "version: 1\nagent: {geminiApiKey: another-one, env: {A: b}}\noutbox: {maxParts: 2}\naccess: {channels: [web/account/a]}\n").Config
	if got, want := Changed(base, other), []string{"agent.env", "agent.geminiApiKey", "access.channels", "outbox.maxParts"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	other = base
	other.Access.Channels = []gate.Entry{}
	if got := Changed(base, other); len(got) > 0 {
		t.Errorf("an empty list is no list, got %q", got)
	}
}

// Keys are unique and each has a value in every configuration.
func TestKeys(t *testing.T) {
	seen := make(map[string]bool)
	for _, key := range Keys() {
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
	}
	if len(seen) < 100 || !seen["platforms.discord.spontaneousPost.enabled"] || !seen["agent.kind"] {
		t.Errorf("keys: %v", Keys())
	}
}
