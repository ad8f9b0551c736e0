package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExplainCommand(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("version: 1\naccess: {replyPolicy: public}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "event.json")
	event := `{"kind":"said","platform":"discord","channel_id":"9","user_id":"7","is_dm":true,"content":"hi"}`
	if err := os.WriteFile(file, []byte(event), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := command("explain", "--dir", dir, file)
	if code != 0 || !strings.Contains(out, "policy     turns it away") || !strings.Contains(out, "outcome  refused, by the rule policy") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	var o, e strings.Builder
	code = Main([]string{"explain", "--dir", dir, "--json", "-"}, strings.NewReader(strings.Replace(event, "true", "false", 1)), &o, &e)
	var told struct {
		Outcome, Rule string
		Then          struct{ Trust, SessionType string }
	}
	if err := json.Unmarshal([]byte(o.String()), &told); err != nil || code != 0 || told.Outcome != "accepted" || told.Rule != "policy" ||
		told.Then.Trust != "public" || told.Then.SessionType != "message" {
		t.Errorf("exit %d: %+v, %v\n%s", code, told, err, e.String())
	}
	for _, args := range [][]string{{"explain", "--dir", dir, file + "x"}, {"explain", "--dir", dir + "x", file}, {"explain", "--dir", dir, filepath.Join(dir, "config.yaml")}} {
		if code, out, errs := command(args...); code != 1 || out != "" || errs == "" {
			t.Errorf("%q: exit %d, %q, %q", args, code, out, errs)
		}
	}
	if _, _, errs := command("explain", filepath.Join(dir, "config.yaml")); errs != "familiar: "+filepath.Join(dir, "config.yaml")+
		": the event: it is not JSON: byte 1: invalid character 'v' looking for beginning of value\nsee: familiar explain --help\n" {
		t.Errorf("a file of another kind: %q", errs)
	}
	if code, _, _ := command("explain"); code != exitUsage {
		t.Errorf("without an event: exit %d", code)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}
