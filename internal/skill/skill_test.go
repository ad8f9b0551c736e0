package skill

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func skillText(name, more string) string {
	return "---\nname: " + name + "\ndescription: Does something.\n" + more + "---\n\n# Text\n"
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, folder, raw string
		says              string // of the error; "" for a good one
	}{
		{"plain", "a-b", skillText("a-b", ""), ""},
		{"unknown keys", "a", skillText("a", "license: MIT\nmetadata:\n  x: [1]\n"), ""},
		{"CRLF and a byte order mark", "a", "\ufeff" + strings.ReplaceAll(skillText("a", ""), "\n", "\r\n"), ""},
		{"no line at the end", "a", "---\nname: a\ndescription: b\n---", ""},
		{"empty", "a", "", "must begin with"},
		{"no front matter", "a", "# Text\n", "must begin with"},
		{"no end", "a", "---\nname: a\ndescription: b\n", "missing"},
		{"another name", "a", skillText("b", ""), "folder's name"},
		{"upper case", "A", skillText("A", ""), "lower case"},
		{"a path", "a", skillText("../a", ""), "lower case"},
		{"two hyphens", "a--b", skillText("a--b", ""), "lower case"},
		{"a long name", strings.Repeat("a", 65), skillText(strings.Repeat("a", 65), ""), "at most 64"},
		{"no name", "a", "---\ndescription: b\n---\n", "add name: a"},
		{"no description", "a", "---\nname: a\n---\n", "description is missing"},
		{"blank description", "a", "---\nname: a\ndescription: \"  \"\n---\n", "description is missing"},
		{"long description", "a", "---\nname: a\ndescription: " + strings.Repeat("é", 1025) + "\n---\n", "1024"},
		{"longest description", "a", "---\nname: a\ndescription: " + strings.Repeat("é", 1024) + "\n---\n", ""},
		{"no mapping", "a", "---\n- a\n---\n", "YAML"},
		{"a colon in a plain text", "a", "---\nname: a\ndescription: b: c\n---\n", "YAML"},
		{"not UTF-8", "a", "---\nname: a\ndescription: \xff\n---\n", "UTF-8"},
		{"long front matter", "a", skillText("a", "x: "+strings.Repeat("a", maxFront)+"\n"), "longer"},
		{"long", "a", skillText("a", "") + strings.Repeat("a", maxText), "longer"},
		{"tools that are none", "a", skillText("a", "allowed-tools: {a: b}\n"), "allowed-tools"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse(c.folder, []byte(c.raw))
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("got %v, want %q", err, c.says)
				}
				return
			}
			if err != nil || s.Name != c.folder || s.Description == "" {
				t.Fatalf("%+v, %v", s, err)
			}
			if text := string(s.Files[0].Data); strings.ContainsAny(text, "\r\ufeff") {
				t.Errorf("%q", text)
			}
		})
	}
}

func TestAllowedTools(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                     nil,
		"allowed-tools: Read Grep\n":           {"Read", "Grep"},
		"allowed-tools: Read, Bash(a b)\n":     {"Read", "Bash(a b)"},
		"allowed-tools: [Read, Bash(a b:*)]\n": {"Read", "Bash(a b:*)"},
	} {
		if s, err := Parse("a", []byte(skillText("a", text))); err != nil || !slices.Equal(s.AllowedTools, want) {
			t.Errorf("%q: %q, %v", text, s.AllowedTools, err)
		}
	}
}

// Each of our own skills can be read, teaches the tool first, and names only flags that keep text off the
// command line.
func TestOurSkills(t *testing.T) {
	skills, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range skills {
		names = append(names, s.Name)
		text := string(s.Files[0].Data)
		tool, shell := strings.Index(text, "`"+s.Name+"`"), strings.Index(text, "    familiar skill "+s.Name)
		if tool < 0 || shell < 0 || strings.Index(text, "Among your tools") > strings.Index(text, "## Without that tool") {
			t.Errorf("%s: tool at %d, shell at %d", s.Name, tool, shell)
		}
		for _, flag := range []string{"--message ", "--content ", "--query ", "--caption "} {
			if strings.Contains(text, flag) {
				t.Errorf("%s teaches %s", s.Name, flag)
			}
		}
		if want := []string{"Bash(familiar skill " + s.Name + ":*)"}; !slices.Equal(s.AllowedTools, want) {
			t.Errorf("%s allows %q", s.Name, s.AllowedTools)
		}
	}
	want := []string{"cancel-reminder", "edit-reply", "fetch-context", "get-message", "list-reminders", "memory-export", "memory-patch",
		"memory-save", "memory-search", "memory-stats", "react-message", "send-file", "send-reply", "set-reminder"}
	if !slices.Equal(names, want) || !slices.Equal(Ours(), want) {
		t.Fatalf("%q, %q", names, Ours())
	}
}

// put writes files, given as path and text in turn, and returns their directory.
func put(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func find(t *testing.T, skills []Skill, name string) Skill {
	t.Helper()
	i := slices.IndexFunc(skills, func(s Skill) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no skill %s", name)
	}
	return skills[i]
}

// BUG-L10: what lies deeper than one folder is no skill, and is not handed to agents either.
func TestFindAtDepthOne(t *testing.T) {
	secret := put(t, "secret.txt", "secret")
	dir := put(t,
		"bake/SKILL.md", skillText("bake", ""),
		"bake/scripts/run.sh", "#!/bin/sh\n",
		"bake/examples/boil/SKILL.md", skillText("boil", ""),
		"bake/examples/boil/more.md", "more",
		"bake/.git/config", "x",
		"group/fry/SKILL.md", skillText("fry", ""),
		"SKILL.md", skillText("x", ""),
		".hidden/SKILL.md", skillText("hidden", ""))
	if err := os.Symlink(secret, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(secret, "secret.txt"), filepath.Join(dir, "bake", "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "bake/scripts/run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	own, _ := Find()
	skills, err := Find(dir, filepath.Join(dir, "missing"))
	if err != nil || len(skills) != len(own)+1 {
		t.Fatalf("%d skills, %v", len(skills), err)
	}
	var paths []string
	for _, f := range find(t, skills, "bake").Files {
		paths = append(paths, f.Path)
		if f.Exec != (f.Path == "scripts/run.sh") {
			t.Errorf("%s: executable %v", f.Path, f.Exec)
		}
	}
	if want := []string{"SKILL.md", "scripts/run.sh"}; !slices.Equal(paths, want) {
		t.Fatalf("files %q", paths)
	}
}

func TestLaterDirectoriesWin(t *testing.T) {
	first := put(t, "send-reply/SKILL.md", skillText("send-reply", "x: first\n"), "a/SKILL.md", skillText("a", "x: first\n"))
	second := put(t, "a/SKILL.md", skillText("a", "x: second\n"))
	skills, err := Find(first, second)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"send-reply": "x: first", "a": "x: second"} {
		if text := string(find(t, skills, name).Files[0].Data); !strings.Contains(text, want) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestWrongFoldersAreNamed(t *testing.T) {
	dir := put(t, "good/SKILL.md", skillText("good", ""), "bad/SKILL.md", "nothing", "worse/SKILL.md", skillText("other", ""))
	if err := os.MkdirAll(filepath.Join(dir, "folder", "SKILL.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	skills, err := Find(dir)
	find(t, skills, "good")
	for _, name := range []string{"bad", "worse", "folder"} {
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

// tree returns every file under dir with its mode and text.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, _ := e.Info()
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		found[rel] = info.Mode().String() + " " + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestLay(t *testing.T) {
	dst := filepath.Join(t.TempDir(), "deep", "skills")
	a := Skill{Name: "a", Files: []File{{FileName, []byte("one"), false}, {"scripts/x/run", []byte("go"), true}}}
	b := Skill{Name: "b", Files: []File{{FileName, []byte("b"), false}}}
	lay := func(skills ...Skill) {
		t.Helper()
		if err := Lay(dst, skills); err != nil {
			t.Fatal(err)
		}
	}
	same := func(x, y fs.FileInfo) bool { return os.SameFile(x, y) && x.ModTime().Equal(y.ModTime()) }
	stat := func(name string) fs.FileInfo {
		t.Helper()
		info, err := os.Stat(filepath.Join(dst, name))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	lay(a, b)
	want := map[string]string{"a/SKILL.md": "-r-------- one", "a/scripts/x/run": "-r-x------ go", "b/SKILL.md": "-r-------- b"}
	if got := tree(t, dst); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q", got)
	}

	// Nothing changed: nothing is written. One changed: the other one stays, and so does dst itself.
	root, oldA, oldB := stat("."), stat("a"), stat("b")
	lay(a, b)
	if !same(oldA, stat("a")) || !same(oldB, stat("b")) {
		t.Fatal("written again without need")
	}
	a.Files = []File{{FileName, []byte("two"), false}}
	lay(a, b)
	if os.SameFile(oldA, stat("a")) || !same(oldB, stat("b")) || !os.SameFile(root, stat(".")) {
		t.Fatal("not the one that changed was replaced")
	}

	// What somebody changed, added, or left behind is put right.
	if err := os.WriteFile(filepath.Join(dst, "b", "extra"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dst, ".new-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dst, "a", FileName), 0o600); err != nil {
		t.Fatal(err)
	}
	lay(b, a)
	want = map[string]string{"a/SKILL.md": "-r-------- two", "b/SKILL.md": "-r-------- b"}
	if got := tree(t, dst); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q", got)
	}
	lay(b)
	entries, err := os.ReadDir(dst)
	if err != nil || len(entries) != 1 || entries[0].Name() != "b" {
		t.Fatalf("%v, %v", entries, err)
	}
}

func TestLayRefusesToLeaveItsFolder(t *testing.T) {
	dst := t.TempDir()
	for _, path := range []string{"../x", "/tmp/x", "a/../../x"} {
		if err := Lay(dst, []Skill{{Name: "a", Files: []File{{path, nil, false}}}}); err == nil {
			t.Errorf("%s was written", path)
		}
	}
}

func TestSwapInTwo(t *testing.T) {
	dir := put(t, "old/x", "old", "new/x", "new")
	if err := swapInTwo(filepath.Join(dir, "new"), filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, dir); !reflect.DeepEqual(got, map[string]string{"old/x": "-rw------- new"}) {
		t.Fatalf("%q", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, raw := range []string{"", "---", "---\n---\n", skillText("a", ""), skillText("a", "allowed-tools: [a, {b: c}]\n"),
		"\ufeff---\r\nname: a\r\ndescription: >\r\n  b\r\n---\r\n", "---\nname: &a a\ndescription: *a\n---\n",
		"---\n? [\n---\n", "---\nname: !!binary YQ==\ndescription: |\n ---\n---\n", "---\n<<: *x\n---\n"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		s, err := Parse("a", []byte(raw))
		if err != nil {
			return
		}
		if s.Name != "a" || strings.TrimSpace(s.Description) == "" || len(s.Files) != 1 {
			t.Fatalf("%+v", s)
		}
		again, err := Parse("a", s.Files[0].Data)
		if err != nil || again.Description != s.Description {
			t.Fatalf("what is laid out reads otherwise: %v", err)
		}
	})
}
