package journal

import (
	"bytes"
	"strings"
	"testing"
)

// Replay of anything comes to an end, hands on whole lines alone, in order, and says of every other line that it was
// passed over.
func FuzzReplay(f *testing.F) {
	for _, seed := range []string{"", "a\nb\n", "{\"a\":1}\n{\"b\":", "\xef\xbb\xbfa\n", "\x00\x00a\nb\x00c\n", "a\r\n\r\nb", " \n\t\n", "\xff\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var got [][]byte
		stats, err := Scan(bytes.NewReader(file), func(line []byte) error {
			if len(line) == 0 || bytes.ContainsAny(line, "\n\x00") || len(bytes.TrimSpace(line)) == 0 {
				t.Fatalf("%q is no line", line)
			}
			if strings.Contains(string(line), "skip") {
				return ErrSkip
			}
			got = append(got, bytes.Clone(line))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if stats.Lines != len(got) || stats.Torn != (len(file) > 0 && file[len(file)-1] != '\n') {
			t.Fatalf("%+v for %d lines of %q", stats, len(got), file)
		}
		rest := file
		for _, line := range got {
			i := bytes.Index(rest, line)
			if i < 0 {
				t.Fatalf("%q is not in the file after what came before it", line)
			}
			rest = rest[i+len(line):]
		}
		if whole := bytes.Count(file, []byte("\n")) + 1; stats.Lines+stats.Skipped > whole {
			t.Fatalf("%+v for at most %d lines", stats, whole)
		}
	})
}
