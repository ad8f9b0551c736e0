package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command that only reads needs no token of a network: what is in the bot's environment and not in this shell counts as
// empty, and one line says so. What starts a bot, or checks that it would start, needs it.
func TestReadingNeedsNoToken(t *testing.T) {
	plainEnv(t)
	dir := drafted(t)
	put(t, filepath.Join(dir, "config.yaml"), "version: 1\nplatforms:\n  discord: {token: \"${BOT_TOKEN}\"}\n  misskey: {host: example.org, token: env:NOTE_TOKEN}\n")
	event := filepath.Join(t.TempDir(), "event.json")
	put(t, event, `{"kind":"said","platform":"discord","channel_id":"9","user_id":"7","content":"hi"}`)
	for _, args := range [][]string{{"memory", "ls"}, {"notes", "ls"}, {"audit", "ls"}, {"config", "show"}, {"explain", event}} {
		code, out, errs := command(append(args, "--dir", dir)...)
		if code != 0 || out == "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "BOT_TOKEN, NOTE_TOKEN") {
			t.Errorf("%v: exit %d\n%s%s", args, code, out, errs)
		}
	}
	for _, args := range [][]string{{"config", "check"}, {"up", "--port", "0", "--no-open"}} {
		if code, out, errs := command(append(args, "--dir", dir)...); code == 0 || !strings.Contains(errs, "BOT_TOKEN is not set") {
			t.Errorf("%v: exit %d\n%s%s", args, code, out, errs)
		}
	}
	put(t, filepath.Join(dir, "config.yaml"), "version: 1\nplatforms: {discord: {token: \"${BOT_TOKEN}\"}}\noutbox: {maxPrats: 1}\n")
	if code, _, errs := command("notes", "ls", "--dir", dir); code == 0 || !strings.Contains(errs, "maxPrats") {
		t.Errorf("another mistake: exit %d, %s", code, errs)
	}
}

// Every command takes a bot by its directory or its id. The id is found where bots are kept, unless a directory here has
// its name.
func TestABotByItsID(t *testing.T) {
	plainEnv(t)
	root := t.TempDir()
	t.Setenv("FAMILIAR_ROOT", root)
	t.Chdir(t.TempDir())
	kept := filepath.Join(root, "instances", "fern")
	put(t, filepath.Join(kept, "config.yaml"), "version: 1\nserver: {port: 7}\n")
	for _, args := range [][]string{{"memory", "ls"}, {"notes", "ls"}, {"audit", "ls"}, {"config", "show"}, {"skills", "ls"}, {"clock", "ls"}} {
		if code, out, errs := command(append(args, "--dir", "fern")...); strings.Contains(errs, "no directory") || strings.Contains(errs, "no bot") {
			t.Errorf("%v: exit %d\n%s%s", args, code, out, errs)
		}
	}
	shown := func() string {
		_, out, errs := command("config", "show", "--dir", "fern")
		return out + errs
	}
	if out := shown(); !strings.Contains(out, "port: 7") {
		t.Error(out)
	}
	put(t, filepath.Join("fern", "config.yaml"), "version: 1\nserver: {port: 8}\n")
	if out := shown(); !strings.Contains(out, "port: 8") {
		t.Error(out)
	}
	if code, _, errs := command("notes", "ls", "--dir", "nobody"); code == 0 || !strings.Contains(errs, "no bot of that id") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if left, err := os.ReadDir(kept); err != nil || len(left) != 1 {
		t.Errorf("reading left %v, %v", left, err)
	}
}
