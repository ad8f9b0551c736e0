package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

var rules = Rules{
	Field: func(name string) func(json.RawMessage) string {
		if name != "hide" {
			return nil
		}
		return func(value json.RawMessage) string { return "was " + string(value) }
	},
	Text: func(text string) string { return strings.ReplaceAll(text, "secret", "…") },
}

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1,"a":[true,false,null,1.50,12345678901234567890]}`: `{"b":1,"a":[true,false,null,1.50,12345678901234567890]}`,
		`{"hide": "x", "keep": {"hide": {"a": [1]}, "n": 2}}`:     `{"hide":"was \"x\"","keep":{"hide":"was {\"a\":[1]}","n":2}}`,
		`[{"hide":null},"a secret <b>"]`:                          `[{"hide":"was null"},"a … <b>"]`,
		`"secret"`:                                                `"…"`, ` {} `: `{}`, `[]`: `[]`, `7`: `7`,
	} {
		got, err := rules.JSON([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s became %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestNoRulesChangeNothing(t *testing.T) {
	const in = `{"hide":"secret","a":[1,{"b":"茶"}]}`
	if got, err := (Rules{}).JSON([]byte(in)); err != nil || string(got) != in {
		t.Errorf("%s, %v", got, err)
	}
}

func TestRefusesWhatIsNotOneValue(t *testing.T) {
	for _, in := range []string{"", "{", `{"a"}`, `{"a":1]`, "1 2", `{"hide":}`, "nonsense", strings.Repeat("[", 5000) + strings.Repeat("]", 5000)} {
		if got, err := rules.JSON([]byte(in)); err == nil {
			t.Errorf("%.20s became %.40s", in, got)
		}
	}
}

// What comes out is JSON, or nothing does; and no field that should be hidden is left.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"hide":[{"hide":1}]}`, `[1,{"a":"b"}]`, `{"a":{"hide":"secret"}}`, `"\ud800"`, "{\"\xff\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := rules.JSON(in)
		if err != nil {
			return
		}
		if !json.Valid(in) || !json.Valid(out) {
			t.Fatalf("%q became %q", in, out)
		}
	})
}
