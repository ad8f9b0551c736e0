package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"familiar/internal/setting"
)

func TestFolderName(t *testing.T) {
	for _, c := range []struct {
		id, want string
		digest   bool
	}{
		{"123456789012345678", "123456789012345678", false}, // Discord
		{"9tq1x0k3jv", "9tq1x0k3jv", false},                 // Misskey
		{"owner", "owner", false},
		{"user.name", "user.name", false},
		{"a_b", "a_b", false},
		{"王小明", "王小明", false},
		{"../x", "__x", true}, // AF-153
		{"a/b", "a_b", true},
		{`a\b`, "a_b", true},
		{".hidden", "hidden", true},
		{" padded ", "padded", true},
		{"Upper", "Upper", true},
		{"..", "_", true},
		{"...", "_.", true},
		{". .", "_.", true},
		{"a..b", "a_b", true},
		{"nul\x00", "nul_", true},
		{"bad\xff", "bad_", true},
	} {
		name, sum, hashed := strings.Cut(folderName(c.id), "~")
		if name != c.want || hashed != c.digest || (hashed && len(sum) != 8) {
			t.Errorf("%q: %q, want %q and digest %v", c.id, folderName(c.id), c.want, c.digest)
		}
	}
	if got := folderName(strings.Repeat("王", 200)); len(got) > longestName+9 {
		t.Errorf("%d bytes", len(got))
	}
	if sum := folderName("A"); sum != "A~559aead0" { // the start of SHA-256("A")
		t.Error(sum)
	}
}

// AF-153: no id leads out of the root, and the folder's name has neither ".." nor a slash.
func FuzzFolderName(f *testing.F) {
	for _, id := range []string{"../x", "a/../../b", "....", ".\x00.", " . . ", "\\..\\", "~", "Ä", strings.Repeat(".a", 300)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		name := folderName(id)
		if name == "" || len(name) > 200 || strings.Contains(name, "..") || strings.ContainsAny(name, "/\\\x00") ||
			name[0] == '.' || !filepath.IsLocal(name) || strings.ContainsFunc(name, unicode.IsControl) {
			t.Errorf("%q became %q", id, name)
		}
		if name == id && strings.ToLower(id) != id && strings.ContainsFunc(id, unicode.IsUpper) {
			t.Errorf("%q has upper case and no digest", id)
		}
	})
}

func TestHome(t *testing.T) {
	f := folders(t)
	for _, id := range []string{"123", "../x", "..", "/etc/passwd", "a\x00b", "Ann", "ann"} {
		home, err := f.Home("discord", id)
		if err != nil {
			t.Errorf("%q: %v", id, err)
			continue
		}
		again, err := f.Home("discord", id)
		if err != nil || again != home {
			t.Errorf("%q again: %q, %v", id, again, err)
		}
		// AF-153
		if filepath.Dir(filepath.Dir(home)) != f.people || strings.Contains(home, "..") {
			t.Errorf("%q is at %s", id, home)
		}
		if mode(t, home) != 0o700 || mode(t, filepath.Join(home, idFile)) != 0o600 {
			t.Errorf("%q: modes", id)
		}
	}
	if home, err := f.Home("../web", "x"); err != nil || !strings.HasPrefix(home, f.people+"/") {
		t.Errorf("platform: %q, %v", home, err)
	}
	for _, id := range []string{"", strings.Repeat("x", maxID+1)} {
		if home, err := f.Home("discord", id); err == nil {
			t.Errorf("%.10q: %s", id, home)
		}
	}
}

func TestHomeOfAnother(t *testing.T) {
	f := folders(t)
	home, err := f.Home("webhook", "a/b")
	if err != nil {
		t.Fatal(err)
	}
	// Somebody calls themselves what the folder is called.
	if got, err := f.Home("webhook", filepath.Base(home)); err == nil {
		t.Errorf("got %s, whose memories are another's", got)
	}
	all, err := f.All()
	if want := []Ref{{Platform: "webhook", User: "a/b"}}; err != nil || !slices.Equal(all, want) {
		t.Errorf("got %v, %v", all, err)
	}
}

func TestHomeOfAnEarlierProgram(t *testing.T) {
	f := folders(t)
	put(t, filepath.Join(f.people, "discord", "42", "memory.public.jsonl"), "{}\n")
	home, err := f.Home("discord", "42")
	if err != nil {
		t.Fatal(err)
	}
	if !is(filepath.Join(home, "memory.public.jsonl")) || !is(filepath.Join(home, idFile)) {
		t.Error("the folder is another, or does not say whose it is")
	}
}

func TestHomeIsNoLink(t *testing.T) {
	f := folders(t)
	if err := os.MkdirAll(filepath.Join(f.people, "web"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(f.people, "web", "ann")); err != nil {
		t.Fatal(err)
	}
	if home, err := f.Home("web", "ann"); err == nil {
		t.Errorf("followed a link to %s", home)
	}
}

func TestAll(t *testing.T) {
	f := folders(t)
	want := []Ref{{Platform: "discord", User: "1"}, {Platform: "web", User: "Owner"}}
	for _, r := range want {
		if _, err := f.Home(r.Platform, r.User); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(f.people, "stray.txt"), "")
	put(t, filepath.Join(f.people, "discord", ".new-1", "x"), "")
	got, err := f.All()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAgentWorkspace(t *testing.T) {
	data := t.TempDir()
	put(t, filepath.Join(data, notesDir, "README.md"), "mine")
	for range 2 {
		f, err := Open(data, "workspaces")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(f.Notes(), "README.md")); string(text) != "mine" {
			t.Errorf("the file was overwritten: %q, %v", text, err)
		}
		index, err := os.ReadFile(filepath.Join(f.Notes(), "notes", "_index.md"))
		if err != nil || !strings.HasPrefix(string(index), "# ") {
			t.Errorf("index: %q, %v", index, err)
		}
		if mode(t, filepath.Join(f.Notes(), "journal")) != 0o700 {
			t.Error("journal")
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, dir := range []string{"", "..", "../x", "/abs"} {
		if _, err := Open(t.TempDir(), dir); err == nil {
			t.Errorf("%q", dir)
		}
	}
	if _, err := Open(t.TempDir(), "workspaces", "/usr/lib"); err == nil {
		t.Error("what every agent can read cannot be guarded")
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string // the key that is wrong
	}{
		{Defaults(), ""},
		{Config{RepoPath: "", WorkspacesDir: "w"}, "repoPath"},
		{Config{RepoPath: "x", WorkspacesDir: ""}, "workspacesDir"},
		{Config{RepoPath: "x", WorkspacesDir: "../w"}, "workspacesDir"},
		{Config{RepoPath: "x", WorkspacesDir: "/w"}, "workspacesDir"},
		{Config{RepoPath: "x", WorkspacesDir: "."}, "workspacesDir"},
		{Config{RepoPath: "x", WorkspacesDir: "agent-workspace"}, "workspacesDir"},
	} {
		var r setting.Report
		c.cfg.Check(&r)
		var got string
		for _, p := range r.Problems() {
			got += p.Path
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.cfg, got, c.want)
		}
	}
}
