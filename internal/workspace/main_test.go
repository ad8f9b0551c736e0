package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// folders opens a fresh data directory.
func folders(t *testing.T) *Folders {
	t.Helper()
	f, err := Open(filepath.Join(t.TempDir(), "data"), "workspaces")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// enter stands somewhere until the test ends.
func enter(t *testing.T, f *Folders, ref Ref) *Stand {
	t.Helper()
	if ref.Notes {
		dir, back, err := f.Lend(ref)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, "notes", "_index.md"), "# Notes\n")
		t.Cleanup(func() {
			if err := back(); err != nil {
				t.Error(err)
			}
		})
	}
	s, err := f.Enter(ref)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Leave(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func is(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}
