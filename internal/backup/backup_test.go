package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// rig is a folder with a remote repository.
type rig struct {
	*Backup
	t      *testing.T
	remote string
	log    bytes.Buffer
	at     time.Time
}

func open(t *testing.T, change ...func(*Config)) *rig {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	r := &rig{t: t, remote: filepath.Join(t.TempDir(), "remote.git"), at: time.Date(2027, 1, 15, 10, 30, 0, 0, time.UTC)}
	run(t, "", "git", "init", "--quiet", "--bare", "--initial-branch=main", r.remote)
	r.Backup = r.on(filepath.Join(t.TempDir(), "data"), change...)
	return r
}

// on is a backup of another folder to the same remote repository, as another machine has it.
func (r *rig) on(dir string, change ...func(*Config)) *Backup {
	cfg := Defaults()
	cfg.Enabled, cfg.RemoteURL = true, r.remote
	for _, c := range change {
		c(&cfg)
	}
	return New(cfg, Deps{Dir: dir, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Now: func() time.Time { r.at = r.at.Add(time.Second); return r.at }})
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) put(name, text string) { put(r.t, r.dir, name, text) }

func (r *rig) copy() {
	r.t.Helper()
	if err := r.Copy(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// there returns what the remote repository holds of a file.
func (r *rig) there(name string) string {
	r.t.Helper()
	return run(r.t, r.remote, "git", "show", "main:"+name)
}

func (r *rig) names() []string {
	r.t.Helper()
	return strings.Fields(run(r.t, r.remote, "git", "ls-tree", "-r", "--name-only", "main"))
}

func (r *rig) commits() int {
	r.t.Helper()
	return len(strings.Fields(run(r.t, r.remote, "git", "rev-list", "main")))
}

// elsewhere changes the remote repository as somebody with a clone of it does.
func (r *rig) elsewhere(name, text string) {
	r.t.Helper()
	clone := r.t.TempDir()
	run(r.t, "", "git", "clone", "--quiet", r.remote, clone)
	put(r.t, clone, name, text)
	run(r.t, clone, "git", "add", "--all")
	run(r.t, clone, "git", "commit", "--quiet", "-m", "elsewhere")
	run(r.t, clone, "git", "push", "--quiet")
}

// AF-175
func TestNothingChanged(t *testing.T) {
	r := open(t)
	r.put("workspaces/discord/1/memory.public.jsonl", "one\n")
	r.put("agent-workspace/notes/a b «ü».md", "note\n")
	for _, name := range []string{"workspaces/discord/1/tmp/x", "SESSION_ID", "scheduler-state.json", ".DS_Store", "a/Thumbs.db"} {
		r.put(name, "not kept\n")
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := r.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out := run(t, r.remote, "git", "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "main"); out != "agent-workspace/notes/a b «ü».md\nworkspaces/discord/1/memory.public.jsonl" {
		t.Error(out)
	}
	r.copy()
	r.copy()
	if n := r.commits(); n != 1 {
		t.Errorf("%d commits", n)
	}
	r.put("workspaces/discord/1/memory.public.jsonl", "one\ntwo\n")
	if err := os.Remove(filepath.Join(r.dir, "agent-workspace/notes/a b «ü».md")); err != nil {
		t.Fatal(err)
	}
	r.copy()
	if n := r.commits(); n != 2 || len(r.names()) != 1 || r.there("workspaces/discord/1/memory.public.jsonl") != "one\ntwo" {
		t.Error(n, r.names())
	}
	said := run(t, r.remote, "git", "log", "--format=%s|%an|%ae", "main")
	if !strings.HasPrefix(said, "backup: 2027-01-15T10:30:0") || !strings.Contains(said, "\ninitial: 2027-01-15T10:30:0") ||
		!strings.Contains(said, "|AIr-Friends Backup|airfriends-backup@noreply.github.com") {
		t.Error(said)
	}
	if out := run(t, r.dir, "git", "status", "--porcelain"); out != "?? link" {
		t.Error("somebody who looks sees", out)
	}
	if info, err := os.Stat(r.git.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
}

// AF-176: the remote repository moved on; what is new there and here ends up in both places.
func TestTheRemoteMovedOn(t *testing.T) {
	r := open(t)
	r.put("a", "a\n")
	r.put("binary", "\n\x00 \n\n")
	r.copy()
	r.elsewhere("prompts/b", " b\n\n")
	r.put("a", "a\nmore\n")
	r.copy()
	if got := r.there("a") + r.there("prompts/b"); got != "a\nmoreb" || r.commits() != 3 {
		t.Errorf("%q, %d commits", got, r.commits())
	}
	if text, err := os.ReadFile(filepath.Join(r.dir, "prompts/b")); err != nil || string(text) != " b\n\n" {
		t.Errorf("here: %q, %v", text, err)
	}
	r.copy()
	if r.commits() != 3 {
		t.Error("bringing them together changed something again")
	}
}

// AF-176: where the same file was changed, a start makes a branch of its own, and a later copy waits.
func TestApart(t *testing.T) {
	r := open(t)
	r.put("a", "a\n")
	r.copy()
	r.elsewhere("a", "theirs\n")
	r.put("a", "ours\n")
	if err := r.Copy(t.Context()); !errors.Is(err, errApart) {
		t.Error(err)
	}
	if err := r.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	heads := run(t, r.remote, "git", "for-each-ref", "--format=%(refname:short)", "refs/heads/backup-2027*")
	if !strings.HasPrefix(heads, "backup-2027-01-15T10-30-") || strings.ContainsAny(heads, ":.\n") || run(t, r.remote, "git", "show", heads+":a") != "ours" {
		t.Error(heads)
	}
	if text, err := os.ReadFile(filepath.Join(r.dir, "a")); err != nil || string(text) != "ours\n" || r.there("a") != "theirs" {
		t.Errorf("here %q, there %q, %v", text, r.there("a"), err)
	}
	run(t, r.remote, "git", "update-ref", "refs/heads/main", heads) // somebody lets ours count
	r.put("a", "more\n")
	if r.copy(); r.there("a") != "more" {
		t.Error("it does not go on from there")
	}
}

// AF-177: what a nested repository holds is kept, its metadata is not, and nothing in it runs.
func TestANestedRepository(t *testing.T) {
	r := open(t)
	nested := filepath.Join(r.dir, "workspaces/web/owner/work/project")
	put(t, nested, "main.go", "package main\n")
	mark := filepath.Join(t.TempDir(), "ran")
	run(t, nested, "git", "init", "--quiet")
	run(t, nested, "git", "config", "core.fsmonitor", "touch "+mark)
	run(t, nested, "git", "config", "filter.evil.clean", "touch "+mark)
	put(t, nested, ".gitattributes", "* filter=evil\n")
	put(t, nested, ".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c touch% "+mark+"\n")
	r.copy()
	for _, hook := range []string{"pre-commit", "reference-transaction", "pre-push", "post-index-change"} {
		put(t, r.git.dir, "hooks/"+hook, "#!/bin/sh\ntouch "+mark+"\n")
		if err := os.Chmod(filepath.Join(r.git.dir, "hooks", hook), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.put("workspaces/web/owner/work/project/sub/.git/HEAD", "evil\n")
	r.put("workspaces/web/owner/work/project/sub/file", "x\n")
	r.copy()
	want := []string{"workspaces/web/owner/work/project/.gitattributes", "workspaces/web/owner/work/project/.gitmodules",
		"workspaces/web/owner/work/project/main.go", "workspaces/web/owner/work/project/sub/file"}
	if names := r.names(); !slices.Equal(names, want) {
		t.Error(names)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("something of an agent ran")
	}
}

func TestTwoAtOnce(t *testing.T) {
	r := open(t)
	r.put("a", "a\n")
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { errs[i] = r.Copy(t.Context()) })
	}
	wg.Wait()
	done := 0
	for _, err := range errs {
		switch {
		case err == nil:
			done++
		case !errors.Is(err, ErrBusy):
			t.Error(err)
		}
	}
	if done == 0 || r.commits() != 1 {
		t.Error(done, r.commits())
	}
}

// What a killed git left behind stops nobody.
func TestLeftLocks(t *testing.T) {
	r := open(t)
	r.put("a", "a\n")
	r.copy()
	for _, name := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock", freshIndex + ".lock", freshIndex,
		"packed-refs.new", "objects/pack/tmp_pack_x", "fast_import_crash_1"} {
		put(t, r.git.dir, name, "left")
	}
	r.put("a", "b\n")
	r.copy()
	if r.there("a") != "b" {
		t.Error("nothing arrived")
	}
	for _, name := range []string{"objects/pack/tmp_pack_x", "fast_import_crash_1"} {
		if _, err := os.Stat(filepath.Join(r.git.dir, name)); err == nil {
			t.Error(name, "stays and takes room")
		}
	}
}

// On an empty machine everything is brought back; where there are files, nothing is touched.
func TestRestore(t *testing.T) {
	r := open(t)
	if there, err := r.Restore(t.Context()); there || err != nil {
		t.Fatal("from an empty repository:", there, err)
	}
	want := map[string]string{"workspaces/discord/1/memory.public.jsonl": "one\n", "notes/ü b.md": "\n note \n\n", "state.jsonl": "{}\n"}
	for name, text := range want {
		r.put(name, text)
	}
	r.copy()
	other := r.on(filepath.Join(t.TempDir(), "new"))
	if there, err := other.Restore(t.Context()); !there || err != nil {
		t.Fatal(there, err)
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(other.dir, name))
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	put(t, other.dir, "more", "x\n")
	if err := other.Copy(t.Context()); err != nil || r.commits() != 2 {
		t.Error("it does not go on from there:", err, r.commits())
	}
	put(t, other.dir, "notes/ü b.md", "changed\n")
	if there, err := other.Restore(t.Context()); there || err != nil {
		t.Error("with files in it:", there, err)
	}
	gone := r.on(filepath.Join(t.TempDir(), "gone"), func(c *Config) { c.RemoteURL = filepath.Join(t.TempDir(), "nothing.git") })
	if there, err := gone.Restore(t.Context()); there || err == nil {
		t.Error("from nowhere:", there, err)
	}
}

// A restore that was cut off in the middle is taken up again, and does not pass for a bot that has few files.
func TestRestoreCutOff(t *testing.T) {
	r := open(t)
	for i := range 600 {
		r.put(fmt.Sprintf("workspaces/web/%03d/memory.public.jsonl", i), fmt.Sprintln(i))
	}
	r.copy()
	other := r.on(filepath.Join(t.TempDir(), "new"))
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for first := filepath.Join(other.dir, "workspaces/web/000/memory.public.jsonl"); ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(first); err == nil {
				cut()
			}
		}
	}()
	_, err := other.Restore(ctx)
	cut()
	<-watched
	last := filepath.Join(other.dir, "workspaces/web/599/memory.public.jsonl")
	if _, gone := os.Stat(last); err == nil || gone == nil {
		t.Fatal("it was not cut off:", err)
	}
	again := r.on(other.dir)
	if there, err := again.Restore(t.Context()); !there || err != nil {
		t.Fatal("it was not taken up:", there, err)
	}
	if got, err := os.ReadFile(last); string(got) != "599\n" {
		t.Errorf("%q, %v", got, err)
	}
	put(t, other.dir, "more", "x\n")
	if err := again.Copy(t.Context()); err != nil || r.commits() != 2 {
		t.Error("it does not go on from there:", err, r.commits())
	}
	if there, err := r.on(other.dir).Restore(t.Context()); there || err != nil {
		t.Error("when it is done it is done again:", there, err)
	}
}

// A folder that somebody cloned by hand goes on as it is, whatever its branch is called.
func TestAClone(t *testing.T) {
	r := open(t)
	run(t, r.remote, "git", "symbolic-ref", "HEAD", "refs/heads/master")
	seed := t.TempDir()
	run(t, "", "git", "init", "--quiet", "--initial-branch=master", seed)
	put(t, seed, "a", "a\n")
	run(t, seed, "git", "add", "--all")
	run(t, seed, "git", "commit", "--quiet", "-m", "by hand")
	run(t, seed, "git", "push", "--quiet", r.remote, "master")
	run(t, "", "git", "clone", "--quiet", r.remote, r.dir)
	r.put("b", "b\n")
	r.copy()
	if got := run(t, r.remote, "git", "log", "--format=%s", "master"); !strings.HasPrefix(got, "backup: ") || !strings.HasSuffix(got, "by hand") {
		t.Error(got)
	}
	if out := run(t, r.remote, "git", "for-each-ref", "--format=%(refname)"); out != "refs/heads/master" {
		t.Error(out)
	}
}

// Many files, and large ones, are copied and brought back in few steps.
func TestManyFiles(t *testing.T) {
	r := open(t)
	for i := range 1200 {
		r.put(fmt.Sprintf("d%d/f%d", i%7, i), fmt.Sprint(i))
	}
	r.copy()
	for name, size := range map[string]int{"large": mostBytes + 1, "empty": 0, "half": mostBytes / 2, "more": mostBytes / 2, "lines": 3} {
		r.put(name, strings.Repeat("\n", size))
	}
	r.copy()
	if n := len(r.names()); n != 1205 {
		t.Error(n)
	}
	other := r.on(filepath.Join(t.TempDir(), "new"))
	if there, err := other.Restore(t.Context()); !there || err != nil {
		t.Fatal(there, err)
	}
	if out, err := exec.Command("diff", "-r", "--exclude=.git", r.dir, other.dir).CombinedOutput(); err != nil {
		t.Errorf("what was brought back differs: %v\n%.2000s", err, out)
	}
}
