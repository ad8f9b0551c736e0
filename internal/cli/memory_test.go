package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// remembering makes a bot's directory with memories of two people and a note.
func remembering(t *testing.T) string {
	t.Helper()
	dir := recorded(t, "")
	line := func(id, day, visibility, importance, content string) string {
		return `{"type":"memory","id":"` + id + `","ts":"` + day + `T12:00:00.000Z","enabled":true,"visibility":"` + visibility +
			`","importance":"` + importance + `","content":"` + content + `"}` + "\n"
	}
	for name, text := range map[string]string{
		"discord/1001/memory.public.jsonl": line("mem_a", "2026-01-01", "public", "high", "likes green tea") +
			line("mem_b", "2026-01-05", "public", "normal", "drinks tea, and coffee") + "garbage\n",
		"discord/1001/memory.private.jsonl": line("mem_c", "2026-01-03", "private", "normal", "wants 烏龍茶 \\u001b[31m") +
			`{"type":"patch","target_id":"mem_b","ts":"2026-01-06T12:00:00.000Z","changes":{"enabled":false}}` + "\n",
		"web/~0a/.id": "Owner", "web/~0a/memory.private.jsonl": line("mem_d", "2026-01-04", "private", "normal", "green shoes"),
		"web/nobody/.id": "nobody",
	} {
		put(t, filepath.Join(dir, "data", "workspaces", filepath.FromSlash(name)), text)
	}
	put(t, filepath.Join(dir, "data", "agent-workspace", "notes", "tea.md"), "# Tea\ngreen tea: 80 °C\n")
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// files lists everything below a directory with its size.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMemory(t *testing.T) {
	dir := remembering(t)
	before := files(t, dir)
	for _, c := range []struct {
		name string
		args []string
		code int
		has  []string
		not  []string
	}{
		{"people", []string{"ls"}, 0, []string{"discord/1001", "web/Owner"}, []string{"nobody"}},
		{"one person", []string{"show", "discord/1001"}, 0, []string{"mem_a", "public, high", "mem_c", "烏龍茶"}, []string{"mem_b", "mem_d"}},
		{"disabled ones too", []string{"show", "discord/1001", "--all"}, 0, []string{"mem_b", "disabled"}, nil},
		{"some of them", []string{"show", "discord/1001", "--since", "2026-01-02", "--until", "2026-01-03"}, 0, []string{"mem_c"}, []string{"mem_a"}},
		{"one memory", []string{"show", "mem_d"}, 0, []string{"web/Owner", "green shoes"}, []string{"mem_a"}},
		{"a note", []string{"show", "notes/tea.md"}, 0, []string{"80 °C"}, nil},
		{"a note that is elsewhere", []string{"show", "../../config.md"}, 1, []string{"read the note"}, nil},
		{"search", []string{"search", "green", "tea"}, 0, []string{"mem_a", "mem_d", "notes/tea.md", "2: green tea"}, []string{"mem_b"}},
		{"search of one", []string{"search", "green", "--person", "web/Owner"}, 0, []string{"mem_d"}, []string{"mem_a", "tea.md"}},
		{"search by importance", []string{"search", "green", "--importance", "high"}, 0, []string{"mem_a"}, []string{"mem_d"}},
		{"search of two Han", []string{"search", "烏龍"}, 0, []string{"mem_c"}, nil},
		{"nothing", []string{"search", "xyz"}, 0, []string{"there is nothing"}, nil},
		{"no such person", []string{"show", "discord/2"}, 1, []string{"discord/2", "familiar memory ls"}, nil},
		{"no such memory", []string{"show", "mem_x"}, 1, []string{"mem_x"}, nil},
		{"nothing to search", []string{"search", " "}, 2, []string{"nothing to search for"}, nil},
		{"a wrong day", []string{"search", "x", "--since", "yesterday"}, 2, []string{"2026-01-31"}, nil},
		{"a wrong importance", []string{"search", "x", "--importance", "low"}, 2, []string{"high or normal"}, nil},
		{"no such command", []string{"list"}, 2, []string{"no command \"familiar memory list\""}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := command(append([]string{"memory", "--dir", dir}, c.args...)...)
			if code != c.code {
				t.Fatalf("code %d, not %d\n%s%s", code, c.code, out, errs)
			}
			for _, want := range c.has {
				if !strings.Contains(out+errs, want) {
					t.Errorf("%q is not in\n%s%s", want, out, errs)
				}
			}
			for _, not := range c.not {
				if strings.Contains(out, not) {
					t.Errorf("%q is in\n%s", not, out)
				}
			}
		})
	}
	if after := files(t, dir); !slices.Equal(after, before) {
		t.Errorf("looking made files: %q", after)
	}
}

func TestMemoryAsJSON(t *testing.T) {
	dir := remembering(t)
	var people []listedPerson
	code, out, errs := command("memory", "ls", "--json", "--dir", dir)
	if err := json.Unmarshal([]byte(out), &people); err != nil || code != 0 || len(people) != 2 {
		t.Fatal(code, err, out, errs)
	}
	if p := people[0]; p.Person != "discord/1001" || p.Stats.Public.Enabled != 1 || p.Stats.Private.Total != 1 || p.Stats.Summary.TotalDisabled != 1 {
		t.Errorf("%+v", p)
	}
	var all foundAll
	code, out, errs = command("memory", "search", "tea", "--json", "--dir", dir)
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != 0 || len(all.Memories) != 1 || len(all.Notes) != 1 {
		t.Fatal(code, err, out, errs)
	}
	if m := all.Memories[0]; m.ID != "mem_a" || m.Person != "discord/1001" || m.RelatedTo == nil {
		t.Errorf("%+v", m)
	}
	code, out, _ = command("memory", "search", "xyz", "--json", "--dir", dir)
	if code != 0 || !strings.Contains(out, `"memories": []`) {
		t.Errorf("%d %s", code, out)
	}
}
