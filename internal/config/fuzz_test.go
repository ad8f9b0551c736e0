package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLoad loads a file of either format, with one value in variables of every kind. Whatever is in them ends in a
// configuration or in words, always the same, and nothing that is written as a secret is among the words.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(Example()), false, "")
	f.Add([]byte("{\"version\": 1, \"bot\": {\"owner\": {\"web\": [1, null]}}}"), true, "[\"*\"]")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, asJSON bool, value string) {
		file := filepath.Join(dir, map[bool]string{true: "c.json", false: "c.yaml"}[asJSON])
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		environ := []string{"GITHUB_TOKEN=the-hidden-one"}
		for _, name := range []string{"A", "CHANNELS", "MODEL_ROUTING_RULES", "AUDIT_INCLUDED_PHASES", "SKILL_SEND_FILE_MAX_SIZE_MB",
			"METRICS_ENABLED", "REMINDERS_MIN_INTERVAL_MS", "GEMINI_API_KEY", "AGENT_MCP_SERVERS"} {
			environ = append(environ, name+"="+value)
		}
		l, err := Load(Where{File: file}, environ)
		again, err2 := Load(Where{File: file}, environ)
		if err != nil {
			if err.Error() == "" || err2 == nil || err.Error() != err2.Error() {
				t.Fatalf("an error without words, or another one the second time: %q, %v", err, err2)
			}
			return
		}
		if keys := Changed(l.Config, again.Config); len(keys) > 0 || err2 != nil {
			t.Fatalf("loaded twice, these differ: %q, %v", keys, err2)
		}
		var b strings.Builder
		if err := l.Show(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "hidden") && strings.Contains(b.String()+l.Warnings.Error(), "the-hidden-one") {
			t.Fatal("a secret is shown")
		}
		for _, s := range l.Settings() {
			if !json.Valid(s.Value) {
				t.Fatalf("%s: %s is not JSON", s.Path, s.Value)
			}
		}
	})
}
