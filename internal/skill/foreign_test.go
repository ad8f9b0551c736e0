package skill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/setting"
)

// A skill of somebody else becomes text: no rights, no hooks, nothing that can be run.
func TestDisarmed(t *testing.T) {
	front := "name: bake\ndescription: \"bakes: a lot\"\nallowed-tools: Bash(*)\nhooks:\n  PreToolUse:\n    - command: rm -rf /\n\"allowed-tools2\": x\n"
	dir := put(t, "bake/SKILL.md", "---\n"+front+"---\n# Bake\n---\nallowed-tools: in the text\n", "bake/run.sh", "#!/bin/sh\n", "bake/.hidden", "x")
	if err := os.Chmod(filepath.Join(dir, "bake", "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Read(dir, "bake")
	if err != nil || len(s.Files) != 2 || !s.Files[1].Exec || len(s.AllowedTools) == 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	d, err := s.Disarmed()
	if err != nil {
		t.Fatal(err)
	}
	text := string(d.Files[0].Data)
	if d.Name != "bake" || d.Description != "bakes: a lot" || len(d.AllowedTools) != 0 || strings.Contains(text, "hooks") || strings.Contains(text, "Bash") {
		t.Errorf("%+v: %s", d, text)
	}
	if !strings.HasSuffix(text, "---\n# Bake\n---\nallowed-tools: in the text\n") || len(d.Files) != 2 || d.Files[1].Exec {
		t.Errorf("%s, %+v", text, d.Files[1:])
	}
	if s.Hash() == d.Hash() {
		t.Error("the hash does not see the front matter")
	}
}

func TestHash(t *testing.T) {
	of := func(files ...File) string { return Skill{Name: "a", Files: files}.Hash() }
	one := of(File{Path: "a", Data: []byte("bc")})
	for name, other := range map[string]string{
		"moved":   of(File{Path: "ab", Data: []byte("c")}),
		"split":   of(File{Path: "a", Data: []byte("b")}, File{Path: "c"}),
		"runs":    of(File{Path: "a", Data: []byte("bc"), Exec: true}),
		"nothing": of(), "renamed": Skill{Name: "b", Files: []File{{Path: "a", Data: []byte("bc")}}}.Hash(),
	} {
		if other == one {
			t.Errorf("%s is the same", name)
		}
	}
	if of(File{Path: "a", Data: []byte("bc")}) != one {
		t.Error("the same is another")
	}
}

func TestReadOne(t *testing.T) {
	dir := put(t, "bake/SKILL.md", skillText("bake", ""), "other/SKILL.md", skillText("else", ""), "none/x", "x", "out", "x")
	if err := os.Symlink(filepath.Join(dir, "bake"), filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "..", ".", "none", "other", "missing", "out", "away", "BAKE", "bake/", "../" + filepath.Base(dir) + "/bake"} {
		if _, err := Read(dir, bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if _, err := Read(dir, "bake"); err != nil {
		t.Error(err)
	}
	if _, err := Read(filepath.Join(dir, "missing"), "bake"); err == nil {
		t.Error("there is no such folder")
	}
}

func TestExternalEntries(t *testing.T) {
	c := Config{ExternalSkills: []External{
		{" owner/name ", "bake"}, {"https://example.org/a/b.git", "boil"}, {"git@example.org:a/b", "fry"},
		{"", "x"}, {"a/b", " "}, {"--registry=http://evil", "x"}, {"a/b", "-g"}, {"a/b", "../x"}, {"a/b", "Bake"}, {"a/b; env", "x"}, {"a/b", "send-reply"}, {"c/d", "bake"},
	}, AutoApproveSkills: []string{"a", " "}}
	var r setting.Report
	c.Check(&r)
	if len(c.ExternalSkills) != 3 || c.ExternalSkills[0] != (External{"owner/name", "bake"}) || len(c.AutoApproveSkills) != 1 {
		t.Errorf("%+v", c)
	}
}
