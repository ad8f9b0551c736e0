package backup

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Nothing that can be called a file's name keeps a copy from being made, and what can be kept is, and comes back.
func TestStrangeNames(t *testing.T) {
	r := open(t)
	strange := []string{"-x", "--upload-pack=x", "cr\r", "two\nlines", `"quoted`, `back\slash`, "\xff\xfe", "tab\t", " ", "ü\u200f", strings.Repeat("n", 255)}
	for _, name := range strange {
		r.put("work/"+name, name)
	}
	for _, name := range []string{".GIT/config", "git~1", ".g\u200cit/config"} { // hosts refuse them
		r.put("work/"+name, "left out")
	}
	r.copy()
	if n := len(strings.Split(run(t, r.remote, "git", "ls-tree", "-r", "-z", "main"), "\x00")) - 1; n != len(strange) {
		t.Errorf("%d files instead of %d", n, len(strange))
	}
	other := r.on(filepath.Join(t.TempDir(), "new"))
	if there, err := other.Restore(t.Context()); !there || err != nil {
		t.Fatal(there, err)
	}
	for _, name := range strange {
		if text, err := os.ReadFile(filepath.Join(other.dir, "work", name)); err != nil || string(text) != name {
			t.Errorf("%q: %q, %v", name, text, err)
		}
	}
}

// What cannot be kept is told, and the rest is kept: folders that lie too deep, and files that hosts refuse.
func TestWhatACopyLacks(t *testing.T) {
	r := open(t)
	r.put("a", "a\n")
	r.put("work/b", "b\n")
	deep := `cd "$0"; for i in $(seq 30); do mkdir "$1"; cd "./$1"; done; touch file`
	run(t, "", "bash", "-c", deep, filepath.Join(r.dir, "work"), strings.Repeat("d", 200))
	if err := r.Copy(t.Context()); err == nil || !strings.Contains(err.Error(), "lacks 1 files") || !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
	if names := r.names(); !slices.Equal(names, []string{"a", "work/b"}) {
		t.Error(names)
	}
	if err := os.RemoveAll(filepath.Join(r.dir, "work")); err != nil {
		t.Fatal(err)
	}
	r.put("large", "")
	if err := os.Truncate(filepath.Join(r.dir, "large"), mostFile+1); err != nil {
		t.Fatal(err)
	}
	if err := r.Copy(t.Context()); err == nil || !strings.Contains(err.Error(), `"large"`) || !strings.Contains(err.Error(), "100 MiB") {
		t.Error(err)
	}
	if names := r.names(); !slices.Equal(names, []string{"a"}) {
		t.Error(names)
	}
	if err := os.Remove(filepath.Join(r.dir, "large")); err != nil {
		t.Fatal(err)
	}
	r.copy()
}

// A file that nobody may read is told too; root may read any, so that another user looks.
func TestWhatNobodyMayRead(t *testing.T) {
	r := open(t)
	if os.Getuid() == 0 {
		if err := r.missed(filepath.Join(r.dir, "x"), fmt.Errorf("open: %w", os.ErrPermission)); err != nil || r.lacks.err() == nil {
			t.Error(err, r.lacks)
		}
		return
	}
	r.put("a", "a\n")
	r.put("shut/b", "b\n")
	r.put("c", "c\n")
	for _, name := range []string{"shut", "c"} {
		if err := os.Chmod(filepath.Join(r.dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(r.dir, "shut"), 0o700)
	if err := r.Copy(t.Context()); err == nil || !strings.Contains(err.Error(), "lacks 2 files") {
		t.Error(err)
	}
	if names := r.names(); !slices.Equal(names, []string{"a"}) {
		t.Error(names)
	}
}

// A file that becomes something else after the names were listed is left out, wherever a link leads and whoever is to write
// into a pipe.
func TestFilesThatBecomeSomethingElse(t *testing.T) {
	r := open(t)
	r.put("first", "")
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.copy()
	for _, name := range []string{"link", "pipe", "gone", "folder", "under/file", "kept", "short"} {
		r.put(name, name)
	}
	if err := os.Truncate(filepath.Join(r.dir, "short"), 3*heldFile); err != nil {
		t.Fatal(err)
	}
	files, err := r.files()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range files {
		names = append(names, name)
		if !slices.Contains([]string{"first", "kept", "short"}, name) {
			if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Remove(filepath.Join(r.dir, "under")); err != nil {
		t.Fatal(err)
	}
	run(t, r.dir, "mkfifo", "pipe")
	run(t, r.dir, "mkdir", "folder")
	run(t, r.dir, "ln", "-s", secret, "link")
	run(t, r.dir, "ln", "-s", filepath.Dir(secret), "under")
	if err := r.keep(t.Context(), files, names); err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 || files["kept"].hash == "" || files["short"].hash == "" || r.lacks.err() != nil {
		t.Errorf("%+v, %v", files, r.lacks.err())
	}
}

// A copy of a remote repository that has a file as no copy of ours comes back without it.
func TestALargeFileFromElsewhere(t *testing.T) {
	r := open(t)
	r.put("a", "a\n")
	r.copy()
	clone := t.TempDir()
	run(t, "", "git", "clone", "--quiet", r.remote, clone)
	put(t, clone, "large", "")
	if err := os.Truncate(filepath.Join(clone, "large"), mostFile+1); err != nil {
		t.Fatal(err)
	}
	run(t, clone, "git", "add", "--all")
	run(t, clone, "git", "commit", "--quiet", "-m", "elsewhere")
	run(t, clone, "git", "push", "--quiet")
	other := r.on(filepath.Join(t.TempDir(), "new"))
	if there, err := other.Restore(t.Context()); !there || err != nil {
		t.Fatal(there, err)
	}
	if out, _ := exec.Command("ls", other.dir).Output(); string(out) != "a\n" || !strings.Contains(r.log.String(), "file=large") {
		t.Errorf("%s\n%s", out, r.log.String())
	}
}

// A copy that finds no room, here because a file of git may not grow, leaves none of its own in the way, and the next one is
// whole.
func TestACopyWithoutRoom(t *testing.T) {
	if out, err := exec.Command("prlimit", "--version").CombinedOutput(); err != nil {
		t.Skipf("there is no prlimit: %s", out)
	}
	r := open(t)
	r.put("a", "a\n")
	r.copy()
	noise := make([]byte, 3*heldFile)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	r.put("noise", string(noise))
	small := filepath.Join(t.TempDir(), "git")
	real := run(t, "", "sh", "-c", "command -v git")
	put(t, filepath.Dir(small), "git", fmt.Sprintf("#!/bin/sh\ntrap '' XFSZ\nexec prlimit --fsize=%d %s \"$@\"\n", heldFile, real))
	if err := os.Chmod(small, 0o700); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", filepath.Dir(small)+":"+path)
	if err := r.on(r.dir).Copy(t.Context()); err == nil || !strings.Contains(err.Error(), "git fast-import") {
		t.Error(err)
	}
	if out := run(t, r.git.dir, "find", ".", "-name", "tmp_*", "-o", "-name", "fast_import_crash_*"); out != "" {
		t.Error("this is left:", out)
	}
	t.Setenv("PATH", path)
	r.copy()
	if n := len(r.names()); n != 2 {
		t.Error(n)
	}
}
