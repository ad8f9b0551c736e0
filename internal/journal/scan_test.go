package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
	long := strings.Repeat("x", MaxLine+1)
	middle := strings.Repeat("y", 100<<10) // longer than the reader's buffer
	for name, c := range map[string]struct {
		in    string
		want  []string
		stats Stats
	}{
		"nothing":               {"", nil, Stats{}},
		"no newline at the end": {"a\nb", []string{"a", "b"}, Stats{Lines: 2, Torn: true}},
		"blank lines":           {"\n \na\n\n", []string{"a"}, Stats{Lines: 1}},
		"carriage returns":      {"a\r\nb\r\n", []string{"a", "b"}, Stats{Lines: 2}},
		"a byte order mark":     {"\xef\xbb\xbfa\nb\n", []string{"a", "b"}, Stats{Lines: 2}},
		"only NUL":              {"a\n\x00\x00\x00\nb\n", []string{"a", "b"}, Stats{Lines: 2, Skipped: 1}},
		"NUL before a line":     {"\x00\x00a\nb\n", []string{"a", "b"}, Stats{Lines: 2}},
		"NUL in a line":         {"a\x00a\nb\n", []string{"b"}, Stats{Lines: 1, Skipped: 1}},
		"NUL at the very end":   {"a\n\x00\x00", []string{"a"}, Stats{Lines: 1, Skipped: 1, Torn: true}},
		"a line too long":       {"a\n" + long + "\nb\n", []string{"a", "b"}, Stats{Lines: 2, Skipped: 1}},
		"too long and torn":     {"a\n" + long, []string{"a"}, Stats{Lines: 1, Skipped: 1, Torn: true}},
		"a line in pieces":      {middle + "\nb\n", []string{middle, "b"}, Stats{Lines: 2}},
		"refused by the reader": {"a\nskip\nb\n", []string{"a", "b"}, Stats{Lines: 2, Skipped: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			stats, err := Scan(strings.NewReader(c.in), func(line []byte) error {
				if string(line) == "skip" {
					return fmt.Errorf("not mine: %w", ErrSkip)
				}
				got = append(got, string(line))
				return nil
			})
			if err != nil || !slices.Equal(got, c.want) || stats != c.stats {
				t.Errorf("got %d lines, %+v, %v; want %d lines, %+v", len(got), stats, err, len(c.want), c.stats)
			}
		})
	}
}

func TestScanEndsAtAnError(t *testing.T) {
	stop := errors.New("enough")
	stats, err := Scan(strings.NewReader("a\nb\nc\n"), func(line []byte) error {
		if string(line) == "b" {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || stats.Lines != 1 {
		t.Fatalf("%+v, %v", stats, err)
	}
}

// Whatever lies in a file, what is appended to it afterwards is read back whole, and last.
func FuzzAppendAfterAnything(f *testing.F) {
	for _, seed := range []string{"", "a\nb", "\x00\x00\x00", "{\"type\":\"mem", "a\r\n\r\n", "\xff\xfe\n", "\n\n"} {
		f.Add([]byte(seed), []byte("line"))
	}
	f.Fuzz(func(t *testing.T, before, line []byte) {
		path := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		if err := j.Append(line); err != nil {
			if fits(line) == nil {
				t.Fatal(err)
			}
			return
		}
		plain := bytes.TrimSpace(line)
		if len(plain) != len(line) || bytes.IndexByte(line, 0) >= 0 || bytes.HasPrefix(line, []byte("\xef\xbb\xbf")) {
			return // not a line that we would write
		}
		var last []byte
		if _, err := j.Replay(func(l []byte) error { last = bytes.Clone(l); return nil }); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(last, line) {
			t.Fatalf("after %q: appended %q, read back %q", before, line, last)
		}
	})
}
