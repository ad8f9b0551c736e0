package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func open(t *testing.T, path string, o Options) *Journal {
	t.Helper()
	j, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// lines replays path and returns what it holds.
func lines(t *testing.T, path string) ([]string, Stats) {
	t.Helper()
	var got []string
	stats, err := Replay(path, func(line []byte) error {
		got = append(got, string(line))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, stats
}

func TestAppendThenReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	j := open(t, path, Options{Sync: true})
	for i := range 3 {
		if err := j.Append(fmt.Appendf(nil, `{"n":%d}`, i)); err != nil {
			t.Fatal(err)
		}
	}
	got, stats := lines(t, path)
	if want := []string{`{"n":0}`, `{"n":1}`, `{"n":2}`}; !slices.Equal(got, want) || stats != (Stats{Lines: 3}) {
		t.Fatalf("replayed %q, %+v", got, stats)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
	if j.Size() != info.Size() {
		t.Fatalf("Size says %d, the file has %d", j.Size(), info.Size())
	}
}

func TestTornTailCostsOneLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte("{\"n\":0}\n{\"n\":"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, path, Options{})
	if err := j.Append([]byte(`{"n":2}`)); err != nil {
		t.Fatal(err)
	}
	got, stats := lines(t, path)
	if want := []string{`{"n":0}`, `{"n":`, `{"n":2}`}; !slices.Equal(got, want) || stats.Torn {
		t.Fatalf("replayed %q, %+v", got, stats)
	}
}

func TestOpenWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	const torn = "one\ntw"
	if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, path, Options{})
	data, _ := os.ReadFile(path)
	if string(data) != torn {
		t.Fatalf("the file is now %q", data)
	}
}

func TestSomebodyElseMovesTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	a, b := open(t, path, Options{}), open(t, path, Options{})
	for n, j := range []*Journal{a, b, a} {
		if err := j.Append(fmt.Appendf(nil, "%d", n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(path, 3); err != nil { // "0\n1"
		t.Fatal(err)
	}
	if err := a.Append([]byte("3")); err != nil {
		t.Fatal(err)
	}
	if got, _ := lines(t, path); !slices.Equal(got, []string{"0", "1", "3"}) {
		t.Fatalf("replayed %q", got)
	}
}

func TestRefusesWhatIsNoLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	j := open(t, path, Options{})
	for _, c := range []struct {
		line []byte
		want error
	}{
		{nil, ErrNotALine}, {[]byte("a\nb"), ErrNotALine},
		{bytes.Repeat([]byte("x"), MaxLine+1), ErrTooLong},
	} {
		if err := j.Append(c.line); !errors.Is(err, c.want) {
			t.Errorf("a line of %d bytes: %v, want %v", len(c.line), err, c.want)
		}
	}
	if err := j.Append(bytes.Repeat([]byte("x"), MaxLine)); err != nil {
		t.Errorf("the longest line: %v", err)
	}
	if got, stats := lines(t, path); len(got) != 1 || len(got[0]) != MaxLine || stats.Skipped != 0 {
		t.Errorf("replayed %d lines, %+v", len(got), stats)
	}
}

func TestClosedAndMissing(t *testing.T) {
	dir := t.TempDir()
	j := open(t, filepath.Join(dir, "a"), Options{})
	if err := errors.Join(j.Close(), j.Close()); err != nil {
		t.Fatal(err)
	}
	if err := j.Append([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("append to a closed journal: %v", err)
	}
	if _, err := Replay(filepath.Join(dir, "no"), func([]byte) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("replay of nothing: %v", err)
	}
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("a directory was opened as a journal")
	}
	if _, err := Open(filepath.Join(dir, "no", "a"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open without a directory: %v", err)
	}
}

func TestReplayOrderUnderConcurrentAppends(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	j := open(t, path, Options{})
	const writers, each = 8, 50
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for n := range each {
				if err := j.Append(fmt.Appendf(nil, "%d %d", w, n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	next := make([]int, writers)
	got, _ := lines(t, path)
	for _, line := range got {
		var w, n int
		if _, err := fmt.Sscanf(line, "%d %d", &w, &n); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if next[w] != n {
			t.Fatalf("writer %d: line %d came where %d was due", w, n, next[w])
		}
		next[w]++
	}
	if len(got) != writers*each {
		t.Fatalf("%d lines", len(got))
	}
}

// A disk that is full in the middle of a line: the file-size limit of the process stands for it, since the
// kernel then writes a part, exactly as it does when the last block is gone.
func TestFullDiskTakesTheLineBack(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	path := filepath.Join(t.TempDir(), "a.jsonl")
	j := open(t, path, Options{Sync: true})
	if err := j.Append([]byte("first")); err != nil {
		t.Fatal(err)
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	err := j.Append([]byte("second"))
	if back := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); back != nil {
		t.Fatal(back)
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("append on a full disk: %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "first\n" {
		t.Fatalf("the file holds %q", data)
	}
	if err := j.Append([]byte("third")); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "first\nthird\n" {
		t.Fatalf("the file holds %q", data)
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.log")
	j := open(t, path, Options{MaxBytes: 10, Keep: 2})
	for n := range 9 {
		if err := j.Append(fmt.Appendf(nil, "line%d", n)); err != nil { // 6 bytes: one to a file
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a.log": "line8\n", "a.log.1": "line7\n", "a.log.2": "line6\n"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
			t.Errorf("%s holds %q (%v), want %q", name, data, err, want)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 3 {
		t.Errorf("%d files are left", len(files))
	}
}

func TestRotationKeepingNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	j := open(t, path, Options{MaxBytes: 8})
	for _, line := range []string{"one", "two", "three"} {
		if err := j.Append([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := lines(t, path); !slices.Equal(got, []string{"three"}) {
		t.Fatalf("left %q", got)
	}
	if err := j.Append([]byte(strings.Repeat("x", 20))); err != nil {
		t.Fatalf("a line longer than the limit: %v", err)
	}
}
