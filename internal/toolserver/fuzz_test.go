package toolserver

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/tool"
)

// FuzzSkillBody sends any body: the answer is always one of the table, and nothing runs without the session's
// id being the session's.
func FuzzSkillBody(f *testing.F) {
	const session = "sess_1_a"
	for _, body := range []string{``, `{`, `null`, `[]`, `{"sessionId":null}`, `{"sessionId":"sess_1_a"}`,
		`{"sessionId":"sess_1_a","parameters":{"a":[1,2,{"b":1e400}]}}`, `{"SESSIONID":"sess_1_a","parameters": [] }`,
		`{"sessionId":"sess_1_a","parameters":{"a":"\ud800"}}`, "{\"sessionId\":\"sess_1_a\",\"parameters\":\"\xff\"}",
		`{"sessionId":"x","sessionId":"sess_1_a","parameters":` + strings.Repeat(`{"a":`, 50) + `1` + strings.Repeat(`}`, 50) + `}`} {
		f.Add([]byte(body))
	}
	ran := 0
	box := tool.NewBox(nil, tool.New(tool.Tool{Name: "count"}, func(context.Context, chat.Turn, none) (none, error) {
		ran++
		return none{}, nil
	}))
	s := New(Defaults(), quiet())
	f.Fuzz(func(t *testing.T, body []byte) {
		seat := box.Seat(session, []string{"count"}, nil)
		seat.Begin(t.Context(), chat.Turn{})
		d := &door{seat: seat, slots: make(chan struct{}, 1), life: t.Context(), end: func(error) {}}
		d.token.UnmarshalText([]byte("token"))
		d.calls.now, d.seen = s.now, s.now()
		s.doors[session] = d
		before := ran
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "http://localhost/api/skill/count", strings.NewReader(string(body)))
		r.Header.Set("Authorization", "Bearer token")
		s.http.Handler.ServeHTTP(w, r)
		var a answer
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || a.StatusCode != w.Code {
			t.Fatalf("%d %q", w.Code, w.Body)
		}
		switch w.Code {
		case 200:
			if ran != before+1 {
				t.Fatalf("ran %d times", ran-before)
			}
		case 400, 401, 413, 500:
			if ran != before {
				t.Fatal("ran although it was refused")
			}
		default:
			t.Fatalf("status %d", w.Code)
		}
	})
}

// FuzzCanonical: equal values have equal keys, and the key of a key is itself.
func FuzzCanonical(f *testing.F) {
	for _, raw := range []string{`{"b":1,"a":[2, 3]}`, `1.0`, `null`, ``, `{`, `{"a":1e999}`, "{\"a\":\"\xff\"}"} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once := canonical(raw)
		if twice := canonical([]byte(once)); json.Valid(raw) && twice != once {
			t.Fatalf("%q, then %q", once, twice)
		}
	})
}
