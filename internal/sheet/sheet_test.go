package sheet

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("old, and longer than the new one"), 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
	after, err := os.Stat(path)
	if err != nil || after.Mode().Perm() != 0o600 || StampOf(after) == StampOf(before) || StampOf(after).Size != 3 {
		t.Error(after.Mode(), StampOf(after), err)
	}
}

// What cannot be put into place leaves the old one, and nothing beside it.
func TestWriteThatFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "a"), []byte("new")); err == nil {
		t.Error("a folder was replaced")
	}
	if err := Write(filepath.Join(dir, "none", "a"), []byte("new")); err == nil {
		t.Error("a folder was made")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Error(left, err)
	}
}
