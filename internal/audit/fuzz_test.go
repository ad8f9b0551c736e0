package audit

import (
	"bytes"
	"testing"

	"familiar/internal/journal"
)

// Whatever lies in a record, it can be summed up and told.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(line(1, "reply_sent", `{"replyLength":3}`) + "\n" + line(2, "session_end", `{"success":true}`)))
	f.Add([]byte(line(1, "skill_call", `{"skillName":"a in b","skillParams":null}`) + "\n" + line(0, "memory_operation", `{"operation":"search","count":-1}`)))
	f.Add([]byte(line(1, "agent_message", `{"length":-9}`) + "\n{\"ts\":\"\",\"phase\":1}\nnull\n" + line(1, "session_start", `null`)))
	f.Fuzz(func(t *testing.T, file []byte) {
		r := Record{Session: "sess_m3x0a1b2_00"}
		if _, err := journal.Scan(bytes.NewReader(file), r.add); err != nil {
			t.Fatal(err)
		}
		r.sum()
		if told := r.Retell(); len(told) > len(r.Lines) {
			t.Fatalf("%d sentences for %d entries", len(told), len(r.Lines))
		}
		for _, l := range r.Lines {
			if _, err := l.MarshalJSON(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
