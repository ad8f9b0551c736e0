package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/config"
)

// Every key is either swapped or named as needing a restart, and never both.
func TestEveryKeyIsSwappedOrNeedsARestart(t *testing.T) {
	used := make(map[string]bool)
	for _, key := range config.Keys() {
		var why []string
		for _, s := range swaps {
			if slices.Contains(strings.Fields(s.keys), key) {
				why = append(why, "swaps")
				used[key] = true
			}
		}
		for _, prefix := range strings.Fields(restarts) {
			if key == prefix || strings.HasPrefix(key, prefix+".") {
				why = append(why, "restarts")
				used[prefix] = true
			}
		}
		switch len(why) {
		case 0:
			t.Errorf("%s: say in reload.go whether a running bot takes it over (swaps) or not (restarts)", key)
		case 1:
		default:
			t.Errorf("%s is in %s", key, strings.Join(why, " and in "))
		}
	}
	for _, s := range swaps {
		for _, key := range strings.Fields(s.keys) {
			if !used[key] {
				t.Errorf("swaps names %s, which is no key", key)
			}
		}
	}
	for _, prefix := range strings.Fields(restarts) {
		if !used[prefix] {
			t.Errorf("restarts names %s, which is no key", prefix)
		}
	}
}

// A running bot takes over what can be taken over, keeps what it counted, says what needs a restart, and stays as it is
// when the file is bad. The file is renamed over, as editors do.
func TestReload(t *testing.T) {
	dir := dir(t)
	file := filepath.Join(dir, "config.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file+"~", []byte("version: 1\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+"~", file); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write("access: {rateLimit: {enabled: true, maxRequestsPerWindow: 1}}\n")
	r := live(t, dir, nil, reply("1"), reply("2"), reply("3"), reply("4"))
	r.hears(event("g", "ann", "one"), chat.Accepted)
	r.hears(event("g", "ann", "two"), chat.Refused)

	write("access: {rateLimit: {enabled: true, maxRequestsPerWindow: 2}}\nbot: {name: Other}\nhealth: {port: 9}\n")
	r.until("it was reloaded", func() bool { return strings.Contains(r.log.String(), "restart to apply: bot.name, health.port") })
	if log := r.log.String(); !strings.Contains(log, "applied=access.rateLimit.maxRequestsPerWindow\n") {
		t.Errorf("the log does not name what was applied:\n%s", log)
	}
	r.hears(event("g", "ann", "three"), chat.Refused) // the cooldown goes on
	r.hears(event("g", "bob", "one"), chat.Accepted)
	r.hears(event("g", "bob", "two"), chat.Accepted)
	r.hears(event("g", "bob", "three"), chat.Refused)
	if status, err := r.status(t.Context(), chat.Turn{}, ""); err != nil || !strings.Contains(status, "restart would apply: `bot.name`, `health.port`") {
		t.Errorf("/status: %v\n%s", err, status)
	}

	write("access: {rateLimit: {enabled: false}}\noutbox: {maxPrats: 1}\n")
	r.until("it was refused", func() bool { return strings.Contains(r.log.String(), "setting=outbox.maxPrats") })
	if log := r.log.String(); !strings.Contains(log, file+":3:10") {
		t.Errorf("the log does not name the place:\n%s", log)
	}
	r.hears(event("g", "bob", "four"), chat.Refused)

	write("access: {rateLimit: {enabled: false}}\nbot: {owner: {web: eve}}\n")
	r.until("the limit is lifted", func() bool { return strings.Count(r.log.String(), "was read anew") == 2 })
	r.hears(event("g", "ann", "four"), chat.Accepted)
	eve := event("g", "eve", "hi")
	eve.From.Platform = "web"
	if got := r.gate.Trust(eve); got != chat.Owner {
		t.Errorf("the new owner is %v", got)
	}
	if status, err := r.status(t.Context(), chat.Turn{}, ""); err != nil || strings.Contains(status, "restart would apply") {
		t.Errorf("what was taken back still waits: %v\n%s", err, status)
	}
}

// A configuration that is gone turns nobody away who was let in: another may be about to be put in its place. A layer
// above it may go.
func TestAConfigurationThatIsGoneStays(t *testing.T) {
	dir := dir(t)
	base, over := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "config.development.yaml")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("version: 1\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(file string) {
		t.Helper()
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	write(base, "bot: {owner: {web: ann}}\n")
	write(over, "outbox: {maxParts: 2}\n")
	r := live(t, dir, nil)
	trust := func(who string) chat.Trust {
		ev := event("g", who, "hi")
		ev.From.Platform = "web"
		return r.gate.Trust(ev)
	}
	remove(base)
	r.until("it was noticed", func() bool { return strings.Contains(r.log.String(), "the configuration is gone") })
	if got := trust("ann"); got != chat.Owner {
		t.Errorf("the owner is %v", got)
	}
	write(base, "bot: {owner: {web: bob}}\n")
	r.until("another was taken over", func() bool { return trust("bob") == chat.Owner })
	remove(over)
	r.until("the layer above is gone", func() bool { return strings.Contains(r.log.String(), "applied=outbox.maxParts") })
}
