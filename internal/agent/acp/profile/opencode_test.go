package profile

import "testing"

func TestPlainJSON(t *testing.T) {
	for in, want := range map[string]string{
		"{\"a\": 1, // one\n}":           `{"a": 1}`,
		`{"a": "// no \" /* comment"}`:   `{"a": "// no \" /* comment"}`,
		"/* x */ [1, 2, /* y */ ]":       ` [1, 2]`,
		`{"a": "unfinished`:              `{"a": "unfinished`,
		"[1 /* never closed":             "[1 ",
		"{\"url\":\"http://x\" } // end": `{"url":"http://x" } `,
	} {
		if got := string(plainJSON([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzPlainJSON(f *testing.F) {
	f.Add([]byte("{\"a\": [1,], // x\n /* y */ \"b\\\"\": 2,}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got := plainJSON(text); len(got) > len(text) {
			t.Errorf("%q grew to %q", text, got)
		}
	})
}
