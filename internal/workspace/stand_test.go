package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestEnterAndLeave(t *testing.T) {
	f := folders(t)
	ann := Ref{Platform: "web", User: "ann", Session: "sess_1"}
	first := enter(t, f, ann)
	for _, dir := range []string{first.Root, first.Work, first.Tmp, first.Home} {
		if mode(t, dir) != 0o700 {
			t.Errorf("%s: mode", dir)
		}
	}
	if _, err := f.Enter(ann); err == nil {
		t.Error("one session stands twice")
	}
	ann.Session = "sess_2"
	second := enter(t, f, ann)
	if second.Work != first.Work || second.Home == first.Home || second.Tmp == first.Tmp {
		t.Errorf("%+v beside %+v", second.Paths, first.Paths)
	}
	put(t, filepath.Join(first.Home, ".cache", "secret"), "x")
	put(t, filepath.Join(first.Work, "kept.md"), "x")
	if err := first.Leave(); err != nil {
		t.Fatal(err)
	}
	// AF-96
	tmp := filepath.Join(first.Root, "tmp")
	if is(first.Tmp) || is(first.Home) || !is(tmp) || !is(second.Tmp) {
		t.Error("after the first left")
	}
	if err := second.Leave(); err != nil {
		t.Fatal(err)
	}
	if is(tmp) || !is(filepath.Join(first.Work, "kept.md")) { // AF-96
		t.Error("after the second left")
	}
	if err := second.Leave(); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestEnterStartsEmpty(t *testing.T) {
	f := folders(t)
	home, err := f.Home("web", "ann")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(home, "tmp", "sess_1.home", "old"), "x")
	put(t, filepath.Join(home, "tmp", "sess_9", "old"), "x")
	s := enter(t, f, Ref{Platform: "web", User: "ann", Session: "sess_1"})
	if is(filepath.Join(s.Home, "old")) {
		t.Error("HOME holds what an earlier session left")
	}
	put(t, filepath.Join(s.Tmp, "new"), "x")
	if err := f.Sweep(); err != nil {
		t.Fatal(err)
	}
	if is(filepath.Join(home, "tmp", "sess_9")) || !is(filepath.Join(s.Tmp, "new")) {
		t.Error("sweep took what is in use, or left what is not")
	}
}

func TestEnterRefuses(t *testing.T) {
	f := folders(t)
	for _, session := range []string{"", "..", "a/b", ".x", "a b", "sess_1.home", strings.Repeat("a", 129)} {
		if s, err := f.Enter(Ref{Platform: "web", User: "ann", Session: session}); err == nil {
			t.Errorf("%q: %+v", session, s.Paths)
		}
	}
	home, err := f.Home("web", "bob")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(home, "work")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Enter(Ref{Platform: "web", User: "bob", Session: "s"}); err == nil {
		t.Error("work is a link to elsewhere")
	}
	if is(filepath.Join(home, "tmp")) {
		t.Error("a session that could not enter left something behind")
	}
}

func TestManySessionsOfOnePerson(t *testing.T) {
	f := folders(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				s, err := f.Enter(Ref{Platform: "web", User: "ann", Session: fmt.Sprint("s", i, "-", j)})
				if err != nil {
					t.Error(err)
					return
				}
				if !is(s.Tmp) || !is(s.Home) {
					t.Error("another session took our folders away")
				}
				if err := s.Leave(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestFiles(t *testing.T) {
	f := folders(t)
	other := enter(t, f, Ref{Platform: "web", User: "1234", Session: "s"})
	put(t, filepath.Join(other.Work, "a.md"), "secret")
	s := enter(t, f, Ref{Platform: "web", User: "123", Session: "s"})
	research := enter(t, f, Ref{Platform: "self", User: "bot", Session: "s", Notes: true})
	put(t, filepath.Join(s.Root, "memory.private.jsonl"), "{}")
	for _, name := range []string{"a.md", "b.txt", "c.jsonl", "d.sh", "dir/e.md"} {
		put(t, filepath.Join(s.Work, name), "text")
	}
	for link, to := range map[string]string{
		"out.md": filepath.Join(s.Root, "memory.private.jsonl"), "up.md": "../memory.private.jsonl", "in.md": "a.md",
		"other": other.Work,
	} {
		if err := os.Symlink(to, filepath.Join(s.Work, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(s.Work, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := Rules{WriteExtensions: []string{".md", ".txt"}}
	const ok, refused, missing = "ok", "refused", "missing"
	for _, c := range []struct {
		what  string
		stand *Stand
		write bool
		path  string
		want  string
		yolo  string // "" when it is the same
	}{
		{"read", s, false, s.Work + "/a.md", ok, ""},
		{"read relative", s, false, "dir/e.md", ok, ""},
		{"read", s, false, s.Work + "/b.txt", ok, ""},
		{"read", s, false, s.Work + "/c.jsonl", ok, ""},
		{"read ending", s, false, s.Work + "/d.sh", refused, ok},
		{"read nothing", s, false, s.Work + "/none.md", missing, ""},
		{"read folder", s, false, s.Work, refused, ""},
		{"read note", s, false, s.Notes + "/notes/_index.md", ok, ""},
		{"AF-105", s, false, other.Work + "/a.md", refused, ""},
		{"AF-105 dots", s, false, s.Work + "/../../1234/work/a.md", refused, ""},
		{"own memory", s, false, s.Root + "/memory.private.jsonl", refused, ""},
		{"own memory dots", s, false, "../memory.private.jsonl", refused, ""},
		{"AF-106", s, false, s.Work + "/out.md", refused, ""},
		{"AF-106 relative", s, false, s.Work + "/up.md", refused, ""},
		{"AF-106 folder", s, false, s.Work + "/other/a.md", refused, ""},
		{"link inside", s, false, s.Work + "/in.md", ok, ""},
		{"pipe", s, false, s.Work + "/pipe.md", refused, ""},
		{"system", s, false, "/etc/passwd", refused, ""},
		{"home", s, false, s.Home + "/a.md", refused, ""},
		{"zero byte", s, false, s.Work + "/a\x00.md", refused, ""},
		{"AF-107 no", s, true, s.Work + "/x.sh", refused, ok},
		{"AF-107 yes", s, true, s.Work + "/x.md", ok, ""},
		{"write below", s, true, s.Work + "/new/deep/x.md", ok, ""},
		{"write tmp", s, true, s.Tmp + "/x.sh", ok, ""},
		{"AF-108", s, true, s.Root + "/memory.public.jsonl", refused, ""},
		{"AF-108 below", s, true, s.Work + "/memory.public.jsonl", refused, ""},
		{"AF-108 tmp", s, true, s.Tmp + "/Reminders.jsonl", refused, ""},
		{"AF-109 message", s, true, s.Notes + "/notes/x.md", refused, ok},
		{"AF-109 research", research, true, research.Notes + "/notes/y.md", ok, ""},
		{"research, the notes themselves", research, true, s.Notes + "/notes/y.md", refused, ""},
		{"research ending", research, true, research.Notes + "/notes/y.sh", refused, ok},
		{"write through", s, true, s.Work + "/other/x.md", refused, ""},
		{"write sibling", s, true, other.Work + "/x.md", refused, ""},
		{"write out", s, true, "/tmp/familiar-x.md", refused, ""},
	} {
		for _, yolo := range []bool{false, true} { // AF-112: containment holds under yolo too
			r := rules
			r.Yolo = yolo
			want := c.want
			if yolo && c.yolo != "" {
				want = c.yolo
			}
			var err error
			if c.write {
				err = c.stand.WriteFile(c.path, []byte("new"), r)
			} else {
				_, err = c.stand.ReadFile(c.path, r)
			}
			got := ok
			switch {
			case errors.Is(err, ErrRefused):
				got = refused
			case errors.Is(err, fs.ErrNotExist):
				got = missing
			case err != nil:
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s %s (yolo %v): %v, want %s", c.what, c.path, yolo, err, want)
			}
		}
	}
	if text, _ := os.ReadFile(filepath.Join(s.Root, "memory.private.jsonl")); string(text) != "{}" {
		t.Errorf("the memory is %q", text)
	}
}

func TestWriteReplacesALink(t *testing.T) {
	s := enter(t, folders(t), Ref{Platform: "web", User: "ann", Session: "s"})
	target := filepath.Join(s.Root, "memory.public.jsonl")
	put(t, target, "{}")
	if err := os.Symlink("../memory.public.jsonl", filepath.Join(s.Work, "x.md")); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteFile(s.Work+"/x.md", []byte("new"), Rules{WriteExtensions: []string{".md"}}); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(target); string(text) != "{}" {
		t.Errorf("the memory is %q", text)
	}
	if left, _ := filepath.Glob(filepath.Join(s.Work, ".new-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if err := s.WriteFile("big.md", make([]byte, MaxFile+1), Rules{Yolo: true}); !errors.Is(err, ErrRefused) {
		t.Errorf("a huge file: %v", err)
	}
}

func TestLeaveRemovesWhatAnAgentClosed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed to the superuser")
	}
	f := folders(t)
	s := enter(t, f, Ref{Platform: "web", User: "ann", Session: "s"})
	closed := filepath.Join(s.Home, "go", "pkg")
	put(t, filepath.Join(closed, "mod", "file"), "x")
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.Mkdir(outside, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(s.Home, "link")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(closed, "mod"), closed, s.Home} {
		if err := os.Chmod(dir, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Leave(); err != nil {
		t.Error(err)
	}
	if is(s.Home) || mode(t, outside) != 0o500 {
		t.Error("HOME is still there, or a link was followed")
	}
}

// The copy of the notes outlives the agent, so that somebody may look at what it wrote; a session without one that
// would write notes is refused; what a crash left of one is swept away.
func TestLend(t *testing.T) {
	f := folders(t)
	ref := Ref{Platform: "self", User: "bot", Session: "s1", Notes: true}
	if _, err := f.Enter(ref); err == nil {
		t.Fatal("entered without a copy")
	}
	dir, back, err := f.Lend(ref)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Lend(ref); err == nil {
		t.Error("two copies for one session")
	}
	s, err := f.Enter(ref)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(s.Notes, "notes", "a.md"), "a")
	if err := errors.Join(f.Sweep(), s.Leave(), f.Sweep()); err != nil || s.Notes != dir || !is(filepath.Join(dir, "notes", "a.md")) {
		t.Error(s.Notes, dir, err)
	}
	old := filepath.Join(filepath.Dir(dir), "s0.notes")
	put(t, filepath.Join(old, "notes", "a.md"), "a")
	if err := errors.Join(back(), f.Sweep()); err != nil || is(dir) || is(old) || is(filepath.Dir(dir)) {
		t.Error("left behind:", err)
	}
}
