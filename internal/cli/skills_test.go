package cli

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"familiar/internal/skill"
	"familiar/internal/skillstore"
)

// A change is shown without doing anything to the terminal, and let in by the hash that was shown.
func TestSkills(t *testing.T) {
	dir := recorded(t, "")
	store := skillstore.Open(filepath.Join(dir, "state", "external-skills"), time.Now)
	fetched := func(text string) {
		store.Update(t.Context(), []skill.External{{Repo: "ann/skills", Skill: "bake"}}, func(context.Context, skill.External) (string, func(), error) {
			from := t.TempDir()
			put(t, filepath.Join(from, "bake", "SKILL.md"), "---\nname: bake\ndescription: d\n---\nsame line\n"+text+"\n")
			put(t, filepath.Join(from, "bake", "blob"), text+"\x00")
			return from, func() {}, nil
		}, slog.New(slog.DiscardHandler))
	}
	run := func(code int, want []string, args ...string) string {
		t.Helper()
		got, out, errs := command(append([]string{"skills", "--dir", dir}, args...)...)
		if got != code {
			t.Fatalf("%q: code %d\n%s%s", args, got, out, errs)
		}
		for _, words := range want {
			if !strings.Contains(out+errs, words) {
				t.Errorf("%q: %q is not in\n%s%s", args, words, out, errs)
			}
		}
		return out
	}
	run(0, []string{"no skills"}, "ls")
	fetched("old words")
	run(0, []string{"bake", "ann/skills", "pinned"}, "ls")
	run(1, []string{"nothing of it waits"}, "show", "bake")
	run(1, []string{"nothing of it waits"}, "admit", "bake", "0123456789ab")
	fetched("new \x1b[31mwords")
	run(0, []string{"waits since", "familiar skills show bake"}, "ls")
	out := run(0, []string{"- old words", "+ new", "SKILL.md changes", "blob changes", "no text"}, "show", "bake")
	if strings.Contains(out, "\x1b") || strings.Contains(out, "same line") {
		t.Errorf("%q", out)
	}
	_, hash, _ := strings.Cut(out, "familiar skills admit bake ")
	hash, _, _ = strings.Cut(hash, "\n")
	run(2, []string{"too short"}, "admit", "bake", hash[:4])
	run(1, []string{"by now"}, "admit", "bake", "0123456789ab")
	run(0, []string{"from the next start"}, "admit", "bake", hash)
	run(0, nil, "ls", "--json")
	fetched("third")
	out = run(0, nil, "show", "bake")
	_, hash, _ = strings.Cut(out, "familiar skills reject bake ")
	run(0, []string{"not offered again"}, "reject", "bake", strings.TrimSpace(hash))
	run(1, []string{"nothing of it waits"}, "show", "bake")
	run(2, []string{"no command \"familiar skills list\""}, "list")
	run(2, nil, "show")
}
