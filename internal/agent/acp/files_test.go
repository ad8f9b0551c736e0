package acp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/agent/script"
)

// AF-105 AF-106 AF-107 AF-108 AF-109: files through the client.
func TestFiles(t *testing.T) {
	f := folders(t)
	var homes []string
	for _, user := range []string{"123", "1234"} {
		home, err := f.Home("web", user)
		if err != nil {
			t.Fatal(err)
		}
		work := filepath.Join(home, "work")
		if err := os.MkdirAll(work, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, "note.md"), []byte("one\ntwo\nthree\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		homes = append(homes, home)
	}
	work := filepath.Join(homes[0], "work")
	if err := os.Symlink(filepath.Join(homes[1], "work", "note.md"), filepath.Join(work, "link.md")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		notes bool
		file  script.File
		want  string
	}{
		{"own file", false, script.File{Path: work + "/note.md"}, `{"content":"one\ntwo\nthree\n"}`},
		{"AF-105 a neighbour with our id as a prefix", false, script.File{Path: homes[1] + "/work/note.md"}, `-32600`},
		{"AF-106 through a link", false, script.File{Path: work + "/link.md"}, `-32600`},
		{"AF-107 a script", false, script.File{Path: work + "/x.sh", Content: "x"}, `-32600`},
		{"AF-107 a text", false, script.File{Path: work + "/x.md", Content: "x"}, `{}`},
		{"AF-108 a memory file", false, script.File{Path: homes[0] + "/memory.public.jsonl", Content: "x"}, `-32600`},
		{"AF-108 one of that name", false, script.File{Path: work + "/memory.public.jsonl", Content: "x"}, `-32600`},
		{"AF-109 notes, by a message session", false, script.File{Path: f.Notes() + "/notes/a.md", Content: "x"}, `-32600`},
		{"the notes themselves, by a session that writes notes", true, script.File{Path: f.Notes() + "/notes/a.md", Content: "x"}, `-32600`},
		{"AF-109 notes, by a session that may", true, script.File{Path: "COPY/notes/a.md", Content: "x"}, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := scripted(t, quick(), says(script.Step{FS: &c.file}), func(d *Deps) { d.Enter = f.Enter })
			o := opening("123")
			if o.Workspace.Notes = c.notes; c.notes {
				dir, back, err := f.Lend(o.Workspace)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = back() })
				c.file.Path = strings.Replace(c.file.Path, "COPY", dir, 1)
			}
			if said := ask(t, open(t, a, o), "go").Said(); !strings.Contains(said, c.want) {
				t.Errorf("answered %s, want %s", said, c.want)
			}
		})
	}
}

// The walls hold for what an agent does without us too.
func TestWalls(t *testing.T) {
	f := folders(t)
	home, err := f.Home("web", "ann")
	if err != nil {
		t.Fatal(err)
	}
	memory := filepath.Join(home, "memory.private.jsonl")
	if err := os.WriteFile(memory, []byte("the treasure"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []script.Step{{Read: memory}, {Read: "/etc/shadow"}, {Write: filepath.Join(home, "x.md")},
		{Write: filepath.Join(f.Notes(), "x.md")}} {
		a := scripted(t, quick(), says(step), func(d *Deps) { d.Enter = f.Enter })
		if said := ask(t, open(t, a, opening("ann")), "go").Said(); !strings.Contains(said, "permission denied") {
			t.Errorf("%+v: %q", step, said)
		}
	}
}

func TestPart(t *testing.T) {
	line := func(n int) *int { return &n }
	for _, c := range []struct {
		from, limit *int
		want        string
	}{
		{nil, nil, "a\nb\nc"}, {line(2), nil, "b\nc"}, {line(2), line(1), "b\n"}, {nil, line(2), "a\nb\n"},
		{line(9), nil, ""}, {line(-5), line(1), "a\n"}, {line(1), line(-1), ""},
	} {
		if got := part("a\nb\nc", c.from, c.limit); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
