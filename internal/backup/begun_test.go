package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hosted lets the remote repository have files, in a history of its own.
func (r *rig) hosted(names ...string) {
	r.t.Helper()
	seed := r.t.TempDir()
	run(r.t, "", "git", "init", "--quiet", "--initial-branch=main", seed)
	for _, name := range names {
		put(r.t, seed, name, "of "+name+"\n")
	}
	run(r.t, seed, "git", "add", "--all")
	run(r.t, seed, "git", "commit", "--quiet", "-m", "Initial commit")
	run(r.t, seed, "git", "push", "--quiet", r.remote, "main")
}

// AF-176: a repository that its host began with a README and a license takes the copy of a bot that has data already.
func TestARepositoryThatIsBegun(t *testing.T) {
	r := open(t)
	r.hosted("README.md", "LICENSE")
	r.put("workspaces/web/owner/memory.public.jsonl", "one\n")
	if err := r.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.copy()
	if names := r.names(); !slices.Equal(names, []string{"LICENSE", "README.md", "workspaces/web/owner/memory.public.jsonl"}) || r.commits() != 2 {
		t.Error(names, r.commits())
	}
}

// The copy of another bot is never mixed with ours: its people's memories would be told to ours.
func TestARepositoryOfAnotherBot(t *testing.T) {
	r := open(t)
	r.hosted("workspaces/web/other/memory.private.jsonl")
	r.put("workspaces/web/owner/memory.private.jsonl", "one\n")
	if err := r.Copy(t.Context()); !errors.Is(err, errApart) {
		t.Error(err)
	}
	if err := r.Begin(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "workspaces/web/other")); err == nil || len(r.names()) != 1 {
		t.Error("the two were mixed", r.names())
	}
}

// AF-176: where the branch is protected, a start makes one of its own, and only one as long as nothing changes.
func TestAProtectedBranch(t *testing.T) {
	r := open(t)
	r.put("a", "a\n")
	r.copy()
	put(t, r.remote, "hooks/update", "#!/bin/sh\ncase $1 in refs/heads/main) echo it is protected; exit 1;; esac\n")
	if err := os.Chmod(filepath.Join(r.remote, "hooks/update"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.put("a", "b\n")
	if err := r.Copy(t.Context()); !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "it is protected") {
		t.Error(err)
	}
	for range 3 {
		if err := r.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	heads := run(t, r.remote, "git", "for-each-ref", "--format=%(refname:short)", "refs/heads/backup-2027*")
	if strings.Count(heads, "backup-") != 1 || run(t, r.remote, "git", "show", heads+":a") != "b" || r.there("a") != "a" {
		t.Error(heads)
	}
}

// What a killed git began is begun anew.
func TestARepositoryThatIsNone(t *testing.T) {
	for _, left := range []string{"HEAD", "config", "objects/pack/x"} {
		r := open(t)
		put(t, r.git.dir, left, map[string]string{"HEAD": "ref: refs/heads/main\n"}[left])
		r.put("a", "a\n")
		r.copy()
		if r.there("a") != "a" {
			t.Error(left)
		}
	}
}

// A repository that somebody takes away while the bot runs is made anew, and one that lost something gets it again.
func TestARepositoryThatGoes(t *testing.T) {
	r := open(t)
	r.put("a", "a\n")
	r.copy()
	if err := os.RemoveAll(r.git.dir); err != nil {
		t.Fatal(err)
	}
	r.put("b", "b\n")
	r.copy()
	if names := r.names(); !slices.Equal(names, []string{"a", "b"}) {
		t.Error(names)
	}
	hash := r.known["b"].hash
	if err := os.Remove(filepath.Join(r.git.dir, "objects", hash[:2], hash[2:])); err != nil {
		t.Fatal(err)
	}
	r.put("c", "c\n")
	if err := r.Copy(t.Context()); err == nil {
		t.Error("a copy was made of what is not there")
	}
	r.copy()
	if names := r.names(); !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Error(names)
	}
}

// Copies do not fill the disk: what many of them leave is packed, and still there.
func TestManyCopies(t *testing.T) {
	r := open(t)
	const files = 99
	r.put("d/0", "")
	r.copy()
	for round := range mostLoose/files + 1 {
		for i := range files {
			r.put(fmt.Sprintf("d/%d", i), fmt.Sprintf("%d in round %d\n", i, round))
		}
		if _, err := r.commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.copy()
	loose, packs, err := r.scattered(t.Context())
	if err != nil || loose > mostLoose/2 || packs != 1 {
		t.Errorf("%d objects lie about, %d packs, %v", loose, packs, err)
	}
	run(t, r.dir, "git", "fsck", "--strict")
	r.put("d/0", "after\n")
	r.copy()
	if r.there("d/0") != "after" {
		t.Error("it does not go on from there")
	}
}
