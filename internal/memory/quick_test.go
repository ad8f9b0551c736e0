package memory

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestQuickReadsWhatIsWritten(t *testing.T) {
	r := newRig(t)
	r.save(false, "likes <tea> & 茶", High)
	if _, ok := quick([]byte(r.lines(publicFile)[0])); !ok {
		t.Errorf("the quick way does not know our own line %s", r.lines(publicFile)[0])
	}
}

// The quick way says what encoding/json says, or nothing.
func FuzzQuick(f *testing.F) {
	for _, seed := range []string{
		memoryLine("mem_a", "2025-01-01T00:00:00.000Z", "public", "high", "x 茶"),
		`{"type":"memory","type":"patch","id":"a"}`, `{"type":"memory","Content":"x"}`, `{"type":"memory",}`,
		`{"type":"memory","enabled":false}`, `{"type":"memory","enabled":falsey}`, `{"type":"memory"}}`,
		"{\"type\":\"memory\",\"content\":\"\xff\"}", `{"type":"memory","content":"a\nb"}`, `{ "type":"memory"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := quick(raw)
		if !ok {
			return
		}
		var want line
		if err := json.Unmarshal(raw, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\n quick %+v\n slow %+v, %v", raw, got, want, err)
		}
	})
}
