package acp

import (
	"encoding/json"
	"testing"
)

func FuzzTranslate(f *testing.F) {
	for _, seed := range []string{`{"sessionUpdate":"plan","entries":null}`,
		`{"sessionUpdate":"tool_call_update","content":[{"type":"x"}]}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}`, "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, update []byte) {
		if seen, known := translate(json.RawMessage(update)); seen != nil && !known {
			t.Fatal("an unknown update became something")
		}
	})
}
