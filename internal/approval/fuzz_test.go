package approval

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// Whatever the arguments are, what is shown ends its block where it should and hides nothing in it.
func FuzzWhatIsShown(f *testing.F) {
	for _, seed := range []string{`{"to":"bob"}`, "{\"a\":\"```\\n\"}", "{\"a\":\"\u202e\u2066\"}", `[`, "\x00\xff", "{\"a\":\"````\"}"} {
		f.Add([]byte(seed))
	}
	r := newRigFor(f)
	f.Fuzz(func(t *testing.T, args []byte) {
		text := r.text(Question{Tool: "t", Args: json.RawMessage(args)})
		lines := strings.Split(text, "\n")
		fence := strings.TrimSuffix(lines[1], "json")
		if last := lines[len(lines)-1]; last != fence || strings.Count(text, fence) != 2 {
			t.Errorf("the block is open: %q", text)
		}
		for _, c := range text {
			if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
				t.Errorf("%U is shown", c)
			}
		}
	})
}
