package cli

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/clock"
	"familiar/internal/sqlite"
)

// drafted makes a bot's directory with two drafts of notes.
func drafted(t *testing.T) string {
	t.Helper()
	dir := remembering(t)
	head := func(session, day string) string {
		return "---\norigin: research\nstanding: foreign\nsession: " + session + "\ndate: " + day + "T12:00:00Z\nsources:\n  - \"https://example.org/" + session + "\"\n---\n\n"
	}
	for name, text := range map[string]string{
		"sess_a/notes/oolong.md": head("sess_a", "2026-01-02") + "# Oolong\n", "sess_a/notes/_index.md": head("sess_a", "2026-01-02") + "- oolong.md: leaves\n",
		"sess_b/notes/mate.md": head("sess_b", "2026-01-01") + "# Mate\n",
	} {
		put(t, filepath.Join(dir, "data", "notes-waiting", filepath.FromSlash(name)), text)
	}
	return dir
}

func TestNotes(t *testing.T) {
	dir := drafted(t)
	before := files(t, dir)
	for _, c := range []struct {
		name string
		args []string
		code int
		has  []string
		not  []string
	}{
		{"all", []string{"ls"}, 0, []string{"oolong", "mate", "sess_a", "2026-01-02"}, []string{"leaves"}},
		{"as JSON", []string{"ls", "--json"}, 0, []string{`"session": "sess_b"`, `"text": "# Mate"`}, nil},
		{"one", []string{"show", "oolong"}, 0, []string{"# Oolong", "- oolong.md: leaves", "https://example.org/sess_a", "lines are added"}, []string{"Mate"}},
		{"one by its session", []string{"show", "sess_b"}, 0, []string{"# Mate"}, nil},
		{"an unknown one", []string{"show", "nothing"}, 1, []string{"no note that waits has this name", "familiar notes ls"}, nil},
		{"a path", []string{"admit", "../../etc"}, 1, []string{"no note that waits has this name"}, nil},
		{"none named", []string{"admit"}, 2, nil, nil},
		{"a command that there is none of", []string{"admid"}, 2, []string{"did you mean admit"}, nil},
	} {
		code, out, errs := command(append(append([]string{"notes"}, c.args...), "--dir", dir)...)
		for _, want := range c.has {
			if !strings.Contains(out+errs, want) {
				t.Errorf("%s: no %q in %s%s", c.name, want, out, errs)
			}
		}
		for _, no := range c.not {
			if strings.Contains(out, no) {
				t.Errorf("%s: %q in %s", c.name, no, out)
			}
		}
		if code != c.code {
			t.Errorf("%s: %d, want %d: %s", c.name, code, c.code, errs)
		}
	}
	if after := files(t, dir); !slices.Equal(before, after) {
		t.Error("looking changed something")
	}
	if code, out, errs := command("notes", "admit", "oolong", "--dir", dir); code != 0 || !strings.Contains(out, "notes/oolong.md") {
		t.Fatal(out, errs)
	}
	if code, out, errs := command("notes", "reject", "mate", "--dir", dir); code != 0 || !strings.Contains(out, "thrown away") {
		t.Fatal(out, errs)
	}
	text, err := os.ReadFile(filepath.Join(dir, "data", "agent-workspace", "notes", "oolong.md"))
	if err != nil || !strings.Contains(string(text), "# Oolong") || !strings.Contains(string(text), "admitted: ") {
		t.Error(string(text), err)
	}
	if code, out, _ := command("notes", "ls", "--dir", dir); code != 0 || out != "no note waits\n" {
		t.Error(out)
	}
}

func TestClock(t *testing.T) {
	dir := remembering(t)
	if code, out, errs := command("clock", "ls", "--dir", dir); code != 0 || out != "nothing comes due by itself\n" {
		t.Fatal(code, out, errs)
	}
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "state", "familiar.db"))
	if err != nil {
		t.Fatal(err)
	}
	due := time.Now().Add(time.Hour)
	c, err := clock.Open(t.Context(), db, []clock.Job{{Name: "selfResearch", Rhythm: clock.Every(time.Hour), Run: func(context.Context, time.Time) error { return nil }}},
		time.Now, slog.New(slog.DiscardHandler))
	if err == nil {
		err = db.Close()
	}
	if err != nil || len(c.States()) != 1 {
		t.Fatal(err)
	}
	before := files(t, dir)
	code, out, errs := command("clock", "ls", "--dir", dir)
	if code != 0 || !strings.Contains(out, "selfResearch") || !strings.Contains(out, due.Format("2006-01-02 15:")) || !strings.Contains(out, "never") ||
		!strings.Contains(out, due.Format(" -07:00")) {
		t.Error(code, out, errs)
	}
	var all []clock.State
	if _, out, _ := command("clock", "ls", "--json", "--dir", dir); json.Unmarshal([]byte(out), &all) != nil || len(all) != 1 || all[0].Name != "selfResearch" {
		t.Error(out)
	}
	if after := files(t, dir); !slices.Equal(before, after) {
		t.Error("looking changed something")
	}
	if code, _, errs := command("clock", "ls", "--dir", filepath.Join(dir, "none")); code != 1 || !strings.Contains(errs, "none") {
		t.Error(code, errs)
	}
}
