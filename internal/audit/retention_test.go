package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
)

// old makes a record that was last written the given days ago.
func old(t *testing.T, days int, name ...string) string {
	t.Helper()
	path := filepath.Join(name...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().AddDate(0, 0, -days)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	return path
}

func there(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		name, _ := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// AF-179
func TestExpire(t *testing.T) {
	for _, days := range []int{7, 0, -1} {
		r := newRig(t, func(c *Config) { c.RetentionDays = days })
		old(t, 8, r.dir, "discord", "1001", "sess_old.jsonl")
		old(t, 8, r.dir, "discord", "1002", "sess_old.jsonl")
		old(t, 6, r.dir, "discord", "1002", "sess_new.jsonl")
		old(t, 8, r.dir, "discord", "1002", "notes.txt")
		old(t, 8, r.dir, "refused.jsonl.1")
		old(t, 8, r.dir, "refused.jsonl")
		want := []string{".", "discord", "discord/1002", "discord/1002/notes.txt", "discord/1002/sess_new.jsonl"}
		if days <= 0 {
			want = there(t, r.dir)
		}
		if err := r.Expire(); err != nil {
			t.Error(err)
		}
		if got := there(t, r.dir); !slices.Equal(got, want) {
			t.Errorf("%d days: %q stay, want %q", days, got, want)
		}
	}
}

func TestExpireWithoutAFolder(t *testing.T) {
	r := newRig(t, func(*Config) {})
	if n, err := r.expire(time.Now()); n != 0 || err != nil {
		t.Error(n, err)
	}
	var none *Book
	if err := none.Expire(); err != nil {
		t.Error(err)
	}
}

func TestExpireFollowsNoLink(t *testing.T) {
	r := newRig(t, func(*Config) {})
	outside := old(t, 30, t.TempDir(), "mine.jsonl")
	old(t, 1, r.dir, "discord", "1001", "sess_new.jsonl")
	for name, target := range map[string]string{"link.jsonl": outside, "folder": filepath.Dir(outside)} {
		if err := os.Symlink(target, filepath.Join(r.dir, "discord", name)); err != nil {
			t.Fatal(err)
		}
	}
	before := there(t, r.dir)
	if n, err := r.expire(time.Now()); n != 0 || err != nil || !slices.Equal(there(t, r.dir), before) {
		t.Errorf("removed %d, %v: %q stay", n, err, there(t, r.dir))
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
	linked := newRig(t, func(*Config) {})
	if err := os.Symlink(filepath.Dir(outside), linked.dir); err != nil {
		t.Fatal(err)
	}
	if n, err := linked.expire(time.Now()); n != 0 || err == nil {
		t.Errorf("a link in place of the folder: removed %d, %v", n, err)
	}
}

// What is being written stays, however long ago its last line was; refusals go on in a new file.
func TestExpireLeavesOpenFiles(t *testing.T) {
	r := newRig(t, func(*Config) {})
	r.Open("turn_1", session, ann)
	r.Refused(chat.Event{ID: "e1", Body: chat.Said{}}, "policy")
	if n, err := r.expire(time.Now().AddDate(0, 0, 30)); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	r.Note("turn_1", SessionEnd{Success: true})
	r.Close("turn_1")
	if got := r.phases(); !slices.Equal(got, []string{"session_end"}) {
		t.Errorf("the session has %q", got)
	}
	r.Refused(chat.Event{ID: "e2", Body: chat.Said{}}, "policy")
	text, err := os.ReadFile(filepath.Join(r.dir, refusedFile))
	if err != nil || !strings.Contains(string(text), "e2") {
		t.Errorf("the refusals are %q, %v", text, err)
	}
}
