package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// recorded makes a bot's directory with two records and a refusal.
func recorded(t *testing.T, config string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"config.yaml": "version: 1\n" + config,
		"data/audit/discord/1001/sess_a.jsonl": `{"ts":"2026-01-02T03:04:05.000Z","phase":"trigger_received","data":{"platform":"discord","userId":"1001","isDm":true,"contentLength":42}}
{"ts":"2026-01-02T03:04:06.500Z","phase":"session_end","data":{"success":true,"replySent":true,"repliesCount":1,"durationMs":1500}}
{"ts":"2026-01-0`,
		"data/audit/web/owner/sess_b.jsonl": `{"ts":"2026-02-02T03:04:05.000Z","phase":"session_end","data":{"success":false,"error":"gone","durationMs":10}}` + "\n",
		"data/audit/refused.jsonl":          `{"ts":"2026-01-02T03:04:05.000Z","rule":"policy","event":"e1","kind":"said","platform":"discord","place":"c9","from":"7"}` + "\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func command(args ...string) (code int, out, errs string) {
	var o, e strings.Builder
	code = Main(args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

func TestAudit(t *testing.T) {
	dir := recorded(t, "audit: {enabled: true}\n")
	for _, c := range []struct {
		name string
		args []string
		code int
		has  []string
		not  []string
	}{
		{"list", []string{"ls"}, 0, []string{"discord/1001", "1.5s", "done  ", "sess_a", "failed", "sess_b", "turned away: 1"}, nil},
		{"of one person", []string{"ls", "--person", "1001"}, 0, []string{"sess_a"}, []string{"sess_b", "turned away"}},
		{"since a day", []string{"ls", "--since", "2026-01-15"}, 0, []string{"sess_b"}, []string{"sess_a", "turned away"}},
		{"show", []string{"show", "sess_a"}, 0, []string{"heard 42 characters from discord/1001, in private", "+1.500 s  done in 1.5s: replied"}, []string{"\x1b"}},
		{"show by the end of the name", []string{"show", "b"}, 0, []string{"failed after 10ms: gone"}, nil},
		{"refused", []string{"show", "refused"}, 0, []string{"turned away said of discord/7 in c9: the rule policy"}, nil},
		{"no such session", []string{"show", "sess_x"}, 1, []string{"sess_x", "familiar audit ls"}, nil},
		{"since nonsense", []string{"ls", "--since", "yesterday"}, 2, []string{"--since", "24h"}, nil},
		{"no such command", []string{"list"}, 2, []string{"no command \"familiar audit list\""}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := command(append(append([]string{"audit"}, c.args...), "--dir", dir)...)
			if code != c.code {
				t.Fatalf("exit %d\n%s%s", code, out, errs)
			}
			for _, text := range c.has {
				if !strings.Contains(out+errs, text) {
					t.Errorf("no %q in\n%s%s", text, out, errs)
				}
			}
			for _, text := range c.not {
				if strings.Contains(out, text) {
					t.Errorf("%q in\n%s", text, out)
				}
			}
		})
	}
}

func TestAuditAsJSON(t *testing.T) {
	dir := recorded(t, "audit: {enabled: true}\n")
	_, out, _ := command("audit", "ls", "--json", "--dir", dir)
	var sessions []struct {
		Session, Person string
		TookMs          int
		Success         bool
	}
	if err := json.Unmarshal([]byte(out), &sessions); err != nil || len(sessions) != 2 || sessions[0].Session != "sess_a" ||
		sessions[0].TookMs != 1500 || !sessions[0].Success || sessions[1].Success {
		t.Errorf("%+v, %v", sessions, err)
	}
	_, out, _ = command("audit", "show", "sess_a", "--json", "--dir", dir)
	var lines []struct {
		TS, Phase string
		Data      map[string]any
	}
	if err := json.Unmarshal([]byte(out), &lines); err != nil || len(lines) != 2 || lines[0].Phase != "trigger_received" ||
		lines[0].Data["contentLength"] != 42.0 || lines[0].TS != "2026-01-02T03:04:05.000Z" {
		t.Errorf("%+v, %v", lines, err)
	}
	if _, out, _ = command("audit", "ls", "--json", "--person", "nobody", "--dir", dir); strings.TrimSpace(out) != "[]" {
		t.Errorf("nothing is %q", out)
	}
}

func TestAuditThatIsOff(t *testing.T) {
	dir := t.TempDir()
	code, out, errs := command("audit", "ls", "--dir", dir)
	if code != 0 || out != "" || !strings.Contains(errs, "audit.enabled is off") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if code, _, errs = command("audit", "show", "sess_a", "--dir", dir); code != 1 || !strings.Contains(errs, "audit.enabled is off") {
		t.Errorf("exit %d, %q", code, errs)
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"":           {},
		"90m":        now.Add(-90 * time.Minute),
		"7d":         now.AddDate(0, 0, -7),
		"2026-01-02": time.Date(2026, 1, 2, 0, 0, 0, 0, time.Local),
	} {
		if got, err := since(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"-1h", "soon", "999999d"} {
		if got, err := since(text, now); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}
