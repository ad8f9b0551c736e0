package web

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"familiar/internal/chat"
)

func TestOpenAndProceed(t *testing.T) {
	s := fresh(t)
	first := s.want(202, "POST", "/v1/sessions", `{"message":"hello","id":"call-1"}`)
	if again := s.want(202, "POST", "/v1/sessions", `{"message":"hello","id":"call-1"}`); again != first {
		t.Errorf("the same id gave %s, then %s", first, again)
	}
	var a accepted
	if err := json.Unmarshal([]byte(first), &a); err != nil || !a.OK || !isSession(a.Session) {
		t.Fatalf("answer %s", first)
	}
	path := "/v1/sessions/" + a.Session
	// A message's id belongs to its session: the one that opened it is known there too.
	for _, c := range []struct{ id, want string }{
		{"call-1", `{"accepted":true,"duplicate":true}`},
		{"call-2", `{"ok":true,"sessionId":"` + a.Session},
		{"call-2", `{"accepted":true,"duplicate":true}`},
	} {
		if got := s.want(202, "POST", path, `{"message":"more","id":"`+c.id+`"}`); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s gave %s, want %s", c.id, got, c.want)
		}
	}
	s.want(202, "POST", path, `{"message":"no id"}`)
	s.want(202, "POST", path, `{"message":"no id"}`)
	events := s.heard()
	if len(events) != 4 {
		t.Errorf("heard %d messages, want 4", len(events))
	}
	for _, ev := range events {
		if ev.Place != placeOf(a.Session) || !ev.From.Same(owner) || !ev.Addressed || ev.Message == "" {
			t.Errorf("heard %+v", ev)
		}
	}
	s.listen(a.Session, "").expect("0 session.started", `1 message.received {"text":"hello"}`)
}

func TestTwoCallsOfOneIDAtOnce(t *testing.T) {
	s := fresh(t)
	answers := make([]string, 8)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { _, answers[i] = s.send("POST", "/v1/sessions", `{"message":"hello","id":"x"}`) })
	}
	wg.Wait()
	for _, a := range answers {
		if a != answers[0] || !strings.Contains(a, `"ok":true`) {
			t.Errorf("answers %q", answers)
		}
	}
	if n := len(s.heard()); n != 1 {
		t.Errorf("heard %d times", n)
	}
}

// A message whose line was lost (the process died between hearing and writing) is healed by its repeat.
func TestARepeatThatOnlyTheInboxKnows(t *testing.T) {
	s := fresh(t)
	s.hears = func(context.Context, chat.Event) chat.Outcome { return chat.Repeat }
	var a accepted
	if err := json.Unmarshal([]byte(s.want(202, "POST", "/v1/sessions", `{"message":"hello","id":"x"}`)), &a); err != nil || !a.OK {
		t.Fatal(a, err)
	}
	if got := s.want(202, "POST", "/v1/sessions/"+a.Session, `{"message":"b","id":"y"}`); got != `{"accepted":true,"duplicate":true}` {
		t.Errorf("got %s", got)
	}
	s.listen(a.Session, "").expect("0 session.started", `1 message.received {"text":"hello"}`, `2 message.received {"text":"b"}`)
}

func TestWhatIsTurnedAwayLeavesNothing(t *testing.T) {
	s := fresh(t)
	known := s.begin("hello")
	for outcome, status := range map[chat.Outcome]int{chat.Busy: 503, chat.Refused: 403, chat.Ignored: 403} {
		s.hears = func(context.Context, chat.Event) chat.Outcome { return outcome }
		s.want(status, "POST", "/v1/sessions", `{"message":"hello","id":"new"}`)
		s.want(status, "POST", "/v1/sessions/"+known, `{"message":"more","id":"new"}`)
	}
	s.hears = nil
	if got := s.want(200, "GET", "/v1/sessions", ""); strings.Count(got, `"id"`) != 1 || !strings.Contains(got, `"title":"hello"`) {
		t.Errorf("sessions: %s", got)
	}
	s.want(202, "POST", "/v1/sessions/"+known, `{"message":"more","id":"new"}`)
	s.listen(known, "?startIndex=1").expect(`1 message.received {"text":"hello"}`, `2 message.received {"text":"more"}`)
}

func TestBusySaysWhenToComeAgain(t *testing.T) {
	s := fresh(t)
	s.hears = func(context.Context, chat.Event) chat.Outcome { return chat.Busy }
	res, err := http.Post(s.url+"/v1/sessions", "application/json", strings.NewReader(`{"message":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
		t.Errorf("%s, Retry-After %q", res.Status, res.Header.Get("Retry-After"))
	}
}

func TestBadRequests(t *testing.T) {
	s := fresh(t)
	session := s.begin("hello")
	before := len(s.heard())
	const sessions = "/v1/sessions"
	one := sessions + "/" + session
	for _, c := range []struct {
		status                   int
		method, path, body, says string
	}{
		{400, "POST", sessions, ``, "empty"},
		{400, "POST", sessions, `{"message":`, "not what is expected"},
		{400, "POST", sessions, `[]`, "object"},
		{400, "POST", sessions, `{"message":"a"} {}`, "after"},
		{400, "POST", sessions, `{"message":"a","colour":1}`, `colour`},
		{400, "POST", sessions, `{"message":7}`, "message"},
		{400, "POST", sessions, `{"message":" \n\u0000"}`, "empty"},
		{400, "POST", sessions, `{"message":"a","id":"` + strings.Repeat("x", 129) + `"}`, "128"},
		{400, "POST", sessions, `{"message":"a","id":"\u0000"}`, "control"},
		{400, "POST", sessions, `{"message":"a","attachments":[{"name":"x"}]}`, "not in this build"},
		{413, "POST", sessions, `{"message":"` + strings.Repeat("x", maxBody) + `"}`, "larger"},
		{413, "POST", sessions, `{"message":"a"}` + strings.Repeat(" ", maxBody), "larger"},
		{405, "PUT", sessions, ``, "GET or POST"},
		{405, "GET", one, ``, "POST"},
		{405, "POST", one + "/stream", ``, "GET"},
		{405, "GET", one + "/cancel", ``, "POST"},
		{404, "GET", one + "/nothing", ``, "nothing"},
		{404, "POST", sessions + "/s_unknown", `{"message":"a"}`, "session"},
		{404, "POST", sessions + "/s_" + strings.Repeat("0", 32), `{"message":"a"}`, "session"},
		{404, "POST", sessions + "/s_" + strings.Repeat("0", 32) + "/cancel", ``, "session"},
		{404, "GET", sessions + "/s_" + strings.Repeat("0", 32) + "/stream", ``, "session"},
		{400, "GET", one + "/stream?startIndex=first", ``, "whole number"},
		{400, "POST", one, `{"answers":[]}`, "empty"},
		{403, "POST", one, `{"answers":[{"requestId":"q","optionId":"yes"}]}`, "page"},
	} {
		got := s.want(c.status, c.method, c.path, c.body)
		if !strings.Contains(got, c.says) {
			t.Errorf("%s %s %.40s says %s, want it to name %q", c.method, c.path, c.body, got, c.says)
		}
	}
	if n := len(s.heard()); n != before {
		t.Errorf("%d bad requests were heard", n-before)
	}
}

func TestTextIsCleaned(t *testing.T) {
	s := fresh(t)
	s.want(202, "POST", "/v1/sessions", "{\"message\":\"a\\u0000b\\r\\nc\\td\\u001b[31m \xff\\ud800 \U0001F469\u200d\U0001F467 中\"}")
	if got, want := s.heard()[0].Text(), "ab\nc\td[31m \uFFFD\uFFFD \U0001F469\u200d\U0001F467 中"; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
}

func TestAnswersComeFromThePage(t *testing.T) {
	s := fresh(t)
	session := s.begin("hello")
	path := "/v1/sessions/" + session
	s.page = true
	both := `{"answers":[{"requestId":"q1","optionId":"yes"},{"requestId":"q2","text":"rather not"}]}`
	s.want(202, "POST", path, both)
	s.want(202, "POST", path, `{"answers":[{"requestId":"q1","optionId":"yes"}]}`)
	s.want(400, "POST", path, `{"answers":[{"requestId":"q1"}]}`)
	s.want(400, "POST", path, `{"answers":[{"optionId":"yes"}]}`)
	s.want(400, "POST", path, `{"message":"x","answers":[{"requestId":"q1","optionId":"yes"}]}`)
	events := s.heard()[1:]
	if len(events) != 2 {
		t.Fatalf("heard %+v, want a press (once) and a reply", events)
	}
	if got := events[0].Body; got != (chat.Pressed{Button: "yes"}) {
		t.Errorf("first %+v", got)
	}
	if said, ok := events[1].Body.(chat.Said); !ok || said.Text != "rather not" || said.ReplyTo != "q2" {
		t.Errorf("second %+v", events[1].Body)
	}
}

func TestCancel(t *testing.T) {
	s := fresh(t)
	session := s.begin("hello")
	for turn, status := range map[bool]string{true: "accepted", false: "no_active_turn"} {
		s.turn = turn
		want := `{"ok":true,"sessionId":"` + session + `","status":"` + status + `"}`
		if got := s.want(202, "POST", "/v1/sessions/"+session+"/cancel", ""); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNobodyListens(t *testing.T) {
	s := fresh(t)
	hear, done, ok := s.ear.Hearing(t.Context())
	if !ok || hear == nil {
		t.Fatal("it listens")
	}
	done()
	s.ear.Close()
	s.want(503, "POST", "/v1/sessions", `{"message":"x"}`)
}

// A post that comes in the moment in which the bot gets ready is not sent away.
func TestPostBeforeRun(t *testing.T) {
	s := &site{t: t, db: openDB(t, filepath.Join(t.TempDir(), "web.db"))}
	defer s.db.Close()
	s.Web = newWeb(t, s.db, Deps{Log: slog.New(slog.DiscardHandler)})
	status := make(chan int)
	go func() {
		mux := http.NewServeMux()
		s.Routes(mux)
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "POST", "/v1/sessions", strings.NewReader(`{"message":"x"}`)))
		status <- rec.Code
	}()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Run(ctx, s.hear, func() {}) }()
	if got := <-status; got != http.StatusAccepted || len(s.heard()) != 1 {
		t.Errorf("status %d, heard %d", got, len(s.heard()))
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A body is either understood or refused with a reason that is the caller's.
func FuzzOpenBody(f *testing.F) {
	for _, seed := range []string{`{"message":"a"}`, `{"message":"a","id":"b"}`, `{"answers":[{}]}`, `[`, "\xff", `null`,
		`{"message":"\ud800\u0000x"}`, `{"message":"a"}{`, `{"id":7}`, `{"attachments":[[]]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		rec := httptest.NewRecorder()
		body, err := decode[opening](rec, httptest.NewRequest("POST", "/", strings.NewReader(raw)))
		var says fault
		if err != nil {
			if !errors.As(err, &says) || says.status != 400 && says.status != 413 || says.say == "" {
				t.Errorf("%q: %v", raw, err)
			}
			return
		}
		got, err := wording(body.Message, body.ID)
		if err == nil && (strings.TrimSpace(got) == "" || strings.ContainsAny(got, "\x00\r\x1b") || !utf8.ValidString(got)) {
			t.Errorf("%q became %q", raw, got)
		}
		if n := len([]rune(title(got))); n > 60 {
			t.Errorf("a title of %d characters", n)
		}
	})
}

// The program died after a message had been heard, and before it was on the stream: before anything was written, or
// when something that it caused stood there already.
func TestAMessageThatACrashKeptFromTheStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "web.db")
	s := serve(t, path)
	s.hears = func(ctx context.Context, ev chat.Event) chat.Outcome {
		if ev.Text() == "/help" {
			s.do(chat.Say{Place: ev.Place, Text: "help is here", ReplyTo: ev.Message, Key: string(ev.ID)})
		}
		return chat.Accepted
	}
	var a accepted
	if err := json.Unmarshal([]byte(s.want(202, "POST", "/v1/sessions", `{"message":"/help","id":"x"}`)), &a); err != nil {
		t.Fatal(err)
	}
	further := "/v1/sessions/" + a.Session
	for _, body := range []string{`{"message":"a"}`, `{"message":"/help","id":"y"}`, `{"message":"b"}`} {
		s.want(202, "POST", further, body)
	}
	heard := s.heard()
	crash := func() {
		t.Helper()
		for _, step := range []string{`DELETE FROM web_events WHERE type IN ('session.started', 'message.received') AND idx <> 3`, `DELETE FROM web_messages WHERE NOT ours AND idx <> 3`} {
			if err := s.db.Write(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(step); return err }); err != nil {
				t.Fatal(err)
			}
		}
		s.close()
		s = serve(t, path)
	}
	want := []string{"0 session.started", `1 message.received {"text":"/help"}`, `2 message.completed`, `3 message.received {"text":"a"}`,
		`4 message.received {"text":"/help"}`, `6 message.completed`, `8 message.received {"text":"b"}`}

	crash()
	for range 2 {
		for _, ev := range heard {
			if err := s.Heard(t.Context(), ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.listen(a.Session, "").expect(want...)

	crash()
	s.hears = func(context.Context, chat.Event) chat.Outcome { return chat.Repeat }
	s.want(202, "POST", "/v1/sessions", `{"message":"/help","id":"x"}`)
	s.want(202, "POST", further, `{"message":"/help","id":"y"}`)
	s.listen(a.Session, "").expect(want[:6]...)

	if err := s.Heard(t.Context(), chat.Event{Place: placeOf("elsewhere")}); err == nil {
		t.Error("heard where nothing can be")
	}
}
