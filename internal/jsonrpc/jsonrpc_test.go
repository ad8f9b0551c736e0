package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const one, two = `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","method":"session/update","params":{}}`
	for name, c := range map[string]struct {
		line  string
		found int
		noise int
	}{
		"a message":                        {one, 1, 0},
		"BUG-D06 noise without an end":     {"progress 50%" + one, 1, 12},
		"BUG-D06 noise with a brace in it": {"at {60%} " + one, 1, 9},
		"BUG-D07 a byte order mark":        {"\xef\xbb\xbf" + one, 1, 0},
		"two in one line":                  {one + two, 2, 0},
		"noise behind":                     {one + " done", 1, 5},
		"some other JSON":                  {`{"level":"info","msg":"hi"}`, 0, 27},
		"half of one":                      {one[:20], 0, 20},
		"words":                            {"loading", 0, 7},
		"a batch":                          {"[" + one + "]", 1, 2},
		"nothing":                          {"  ", 0, 0},
	} {
		found, noise := Parse([]byte(c.line))
		if len(found) != c.found || noise != c.noise {
			t.Errorf("%s: %d messages and %d bytes of noise, want %d and %d", name, len(found), noise, c.found, c.noise)
		}
	}
}

// BUG-D07: CR LF ends a line; a line that is too long is skipped and those behind it are not.
func TestLines(t *testing.T) {
	l := NewLines(strings.NewReader("one\r\n"+strings.Repeat("x", 200_000)+"\ntwo\n"+strings.Repeat("y", 99)+"\nlast"), 100)
	var got []string
	for {
		line, err := l.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, ErrLong) {
			line = []byte("long")
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line))
	}
	if want := "one long two " + strings.Repeat("y", 99) + " last"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// BUG-D25
func TestIDs(t *testing.T) {
	for _, c := range []struct {
		a, b       string
		same, twin bool
	}{
		{`1`, `1`, true, false},
		{`1`, `1.0`, true, false},
		{`10`, `1e1`, true, false},
		{`1`, `"1"`, false, true},
		{`9007199254740993`, `9007199254740992`, false, false},
		{`9007199254740993`, `9007199254740993.0`, true, false},
		{`1`, `1.5`, false, false},
		{`"a"`, `"\u0061"`, true, false},
		{`0`, `-0`, true, false},
		{`1e999999999`, `1`, false, false},
	} {
		a, b := ReadID(json.RawMessage(c.a)), ReadID(json.RawMessage(c.b))
		if !a.Known || !b.Known || (a == b) != c.same || (a == b.Twin()) != c.twin {
			t.Errorf("%s and %s: same %t, twins %t; want %t, %t", c.a, c.b, a == b, a == b.Twin(), c.same, c.twin)
		}
	}
	for _, none := range []string{``, `null`, `{}`, `[1]`, `true`, `"` + strings.Repeat("x", 300) + `"`} {
		if id := ReadID(json.RawMessage(none)); id.Known {
			t.Errorf("%.20q is taken for an id", none)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"progress {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", "\xef\xbb\xbf{}\r\n",
		`{"id":"1","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":null}}}`,
		`{"method":"m","params":{"update":{"sessionUpdate":"tool_call_update","content":[{"type":"x"}]}}}{`, "{{{{\n}}}}\n", "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		l := NewLines(bytes.NewReader(stream), 1000)
		for range len(stream) + 2 {
			line, err := l.Next()
			if errors.Is(err, ErrLong) {
				continue
			}
			if err != nil {
				return
			}
			found, noise := Parse(line)
			if noise < 0 || noise > len(line) {
				t.Fatalf("%d bytes of noise in a line of %d", noise, len(line))
			}
			for _, m := range found {
				if !m.Valid() {
					t.Fatal("a message that is none was found")
				}
				_ = ReadID(m.ID)
			}
		}
		t.Fatal("the stream does not end")
	})
}
