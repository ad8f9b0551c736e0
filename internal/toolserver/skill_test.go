package toolserver

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/tool"
)

func TestStatusTable(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	ok, id := "Bearer "+s.Token, s.Session()
	for _, c := range []struct {
		name, method, path, body, auth string
		status                         int
	}{
		{"AF-115 GET", "GET", "/api/skill/memory-save", "", ok, 405},
		{"AF-115 before the path is looked at", "GET", "/elsewhere", "", ok, 405},
		{"AF-116 another path", "POST", "/api/other", `{`, "", 404},
		{"AF-116 a name that is none", "POST", "/api/skill/Memory_Save", `{"sessionId":"` + id + `"}`, ok, 404},
		{"AF-116 an unknown skill", "POST", "/api/skill/none", `{"sessionId":"` + id + `"}`, ok, 404},
		{"AF-117 not JSON", "POST", "/api/skill/memory-save", `{`, ok, 400},
		{"AF-117 JSON with a tail", "POST", "/api/skill/memory-save", `{"sessionId":"` + id + `"} x`, ok, 400},
		{"AF-117 no session", "POST", "/api/skill/memory-save", `{}`, ok, 400},
		{"AF-117 a session that is no text", "POST", "/api/skill/memory-save", `{"sessionId":7}`, ok, 400},
		{"AF-117 no object", "POST", "/api/skill/memory-save", `[1]`, ok, 400},
		{"AF-117 an unknown session", "POST", "/api/skill/memory-save", `{"sessionId":"sess_x"}`, ok, 401},
		{"AF-118 OPTIONS", "OPTIONS", "/api/skill/memory-save", "", "", 204},
		{"AF-134 no token", "POST", "/api/skill/memory-save", `{"sessionId":"` + id + `"}`, "", 403},
		{"AF-134 a wrong token, unknown skill", "POST", "/api/skill/none", `{"sessionId":"` + id + `"}`, "Bearer x" + s.Token, 403},
		{"AF-134 another scheme", "POST", "/api/skill/memory-save", `{"sessionId":"` + id + `"}`, "Basic " + s.Token, 403},
		{"parameters that are no object", "POST", "/api/skill/memory-save", `{"sessionId":"` + id + `","parameters":[]}`, ok, 400},
		{"AF-125 a blank reply", "POST", "/api/skill/send-reply", `{"sessionId":"` + id + `","parameters":{"message":"   "}}`, ok, 400},
		{"a missing parameter", "POST", "/api/skill/send-reply", `{"sessionId":"` + id + `"}`, ok, 400},
		{"too large", "POST", "/api/skill/memory-save", `{"x":"` + strings.Repeat("a", maxBody) + `"}`, ok, 413},
		{"no parameters", "POST", "/api/skill/memory-save", `{"sessionId":"` + id + `"}`, ok, 200},
		{"null parameters", "POST", "/api/skill/memory-save", `{"sessionId":"` + id + `","parameters":null}`, ok, 200},
	} {
		t.Run(c.name, func(t *testing.T) { want(t, r.post(c.method, c.path, c.body, c.auth), c.status) })
	}
	if r.mu.Lock(); len(r.refused) != 1 || r.refused[0] != "none" { // whoever had no right to ask is not recorded
		t.Errorf("seen as refused: %v", r.refused)
	}
	r.mu.Unlock()
}

// AF-134: one session's token opens no other session.
func TestTokenIsOfOneSession(t *testing.T) {
	r := newRig(t)
	a, b := r.admit(), r.admit()
	if a.Token == b.Token || len(a.Token) != 64 {
		t.Fatalf("tokens of %d characters", len(a.Token))
	}
	body := `{"sessionId":"` + a.Session() + `"}`
	want(t, r.post("POST", "/api/skill/memory-save", body, "Bearer "+b.Token), 403)
}

// AF-119: the time counts from the last activity, whichever kind.
func TestIdleSessionExpires(t *testing.T) {
	r := newRig(t)
	idle := r.admit()
	r.pass(31 * time.Minute)
	want(t, idle.call("memory-save", `{}`), 401)
	busy := r.admit()
	for i := range 4 {
		r.pass(20 * time.Minute)
		if i%2 == 0 {
			want(t, busy.call("memory-save", `{}`), 200)
		} else {
			busy.Touch()
		}
	}
	r.pass(20 * time.Minute)
	want(t, busy.call("memory-save", `{}`), 200)
	r.pass(31 * time.Minute)
	r.admit() // takes the opportunity
	if _, there := r.doors[busy.Session()]; there {
		t.Fatal("an idle door was kept")
	}
}

// AF-119: a call without the token is no activity.
func TestStrangersKeepNothingAlive(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	for range 2 {
		r.pass(20 * time.Minute)
		r.post("POST", "/api/skill/memory-save", `{"sessionId":"`+s.Session()+`"}`, "Bearer no")
	}
	want(t, s.call("memory-save", `{}`), 401)
}

// AF-120
func TestSessionIDs(t *testing.T) {
	id := tool.NewSession(time.Now())
	if ok := sessionForm.MatchString(id); !ok {
		t.Fatal(id)
	}
}

// AF-121: the quota of a tool is what the caller sees.
func TestSecondReplyIsRefused(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	want(t, s.call("send-reply", `{"message":"one"}`), 200)
	want(t, s.call("send-reply", `{"message":"two"}`), 429)
	if len(r.sent) != 1 {
		t.Fatalf("sent %q", r.sent)
	}
}

// AF-122
func TestTwoRepliesAtOnce(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	var wg sync.WaitGroup
	status := make([]int, 2)
	for i := range status {
		wg.Go(func() { status[i] = s.call("send-reply", `{"message":"`+string(rune('a'+i))+`"}`).StatusCode })
	}
	wg.Wait()
	if len(r.sent) != 1 || status[0]+status[1] != 200+429 {
		t.Fatalf("sent %q, status %v", r.sent, status)
	}
}

// AF-123: repeats within a second, in any spelling and at once, are one call.
func TestRepeats(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	want(t, s.call("send-reply", `{"message":"hi","x":{"b":1,"a":2}}`), 200)
	r.pass(999 * time.Millisecond)
	want(t, s.call("send-reply", `{ "x":{"a":2, "b":1}, "message":"\u0068i"}`), 200)
	if len(r.sent) != 1 {
		t.Fatalf("sent %q", r.sent)
	}
	r.pass(time.Millisecond)
	want(t, s.call("send-reply", `{"message":"hi","x":{"b":1,"a":2}}`), 429)

	s.call("send-file", `{}`)
	s.call("send-file", `{}`)
	if r.saves != 2 {
		t.Fatalf("%d of 2 files were asked for", r.saves)
	}
	other := r.admit()
	other.call("memory-save", `{}`)
	s.call("memory-save", `{}`)
	if r.saves != 4 {
		t.Fatal("one session's result answered another's call")
	}
	want(t, r.post("POST", "/api/skill/memory-save", `{"sessionId":"`+s.Session()+`"}`, ""), 403)
}

// AF-123
func TestSameCallAtOnce(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	var wg sync.WaitGroup
	first := make(chan answer, 1)
	wg.Go(func() { first <- s.call("waits", `{}`) })
	<-r.entered
	for range 5 {
		wg.Go(func() {
			if a := s.call("waits", `{}`); a.StatusCode != 200 || string(a.Data) != `{"count":1}` {
				t.Errorf("%+v", a)
			}
		})
	}
	close(r.release)
	want(t, <-first, 200)
	wg.Wait()
	if r.saves != 1 {
		t.Fatalf("ran %d times", r.saves)
	}
}

// AF-124: a failure is not kept, so the same words may be tried again at once.
func TestFailureIsNotRepeated(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	r.fail = tool.Bad("the platform refused")
	want(t, s.call("send-reply", `{"message":"hi"}`), 400)
	want(t, s.call("send-reply", `{"message":"hi"}`), 200)
	if len(r.sent) != 1 {
		t.Fatalf("sent %q", r.sent)
	}
}

func TestFaultsOfOursStayOurs(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	a := s.call("breaks", `{"note":"what ann said"}`)
	want(t, a, 500)
	if strings.Contains(a.Error, "/secret") {
		t.Fatalf("the agent reads %q", a.Error)
	}
	if log := r.logs.String(); !strings.Contains(log, "disk /secret/place is full") || !strings.Contains(log, "tool=breaks") ||
		strings.Contains(log, "ann") || strings.Contains(log, s.Token) {
		t.Fatalf("the operator reads %q", log)
	}
}

func TestCallOutsideATurn(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	s.End()
	a := s.call("memory-save", `{}`)
	want(t, a, 401)
	if !strings.Contains(a.Error, "no turn") || r.saves != 0 {
		t.Fatalf("%q, %d saved", a.Error, r.saves)
	}
}

func TestTurnEndsWhileATool(t *testing.T) {
	for name, end := range map[string]func(seat){"turn": func(s seat) { s.End() }, "door": func(s seat) { s.Close() }} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.admit()
			got := make(chan answer, 1)
			go func() { got <- s.call("waits", `{}`) }()
			<-r.entered
			end(s)
			want(t, <-got, 401)
		})
	}
}

func TestClosedDoor(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	if _, err := r.Admit(s.Seat); err == nil {
		t.Fatal("one session got two doors")
	}
	s.Close()
	s.Close()
	want(t, s.call("memory-save", `{}`), 401)
}

// The client hears the answer to the call that was one too many before anybody ends it.
func TestAnswerBeforeTheLoopEnds(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	for i, status := range []int{200, 429, 429, 429} {
		want(t, s.call("send-reply", `{"message":"`+strings.Repeat("a", i+1)+`"}`), status)
	}
	until(t, func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.loops == 1 })
}

func TestForeignNamesAndPages(t *testing.T) {
	r := newRig(t)
	s := r.admit()
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"rebound.example:3001", "", 403}, {"127.0.0.1.example", "", 403}, {"10.0.0.1:3001", "", 403},
		{"localhost", "", 200}, {"[::1]:3001", "", 200}, {"127.0.0.1:1", "", 200},
		{"localhost", "https://rebound.example", 403}, {"localhost", "null", 403}, {"localhost", "http://localhost:8420", 200},
	} {
		for _, path := range []string{"/api/skill/memory-save", mcpPath} {
			req, _ := http.NewRequest("POST", r.URL()+path, strings.NewReader(`{"sessionId":"`+s.Session()+`"}`))
			req.Host = c.host
			req.Header.Set("Authorization", "Bearer "+s.Token)
			if c.origin != "" {
				req.Header.Set("Origin", c.origin)
			}
			if path == mcpPath && c.status == 200 {
				continue
			}
			if a := r.do(req); a.StatusCode != c.status {
				t.Errorf("%s, Host %q, Origin %q: %d", path, c.host, c.origin, a.StatusCode)
			}
		}
	}
}

func TestFloodOfOneSession(t *testing.T) {
	r := newRig(t)
	s, other := r.admit(), r.admit()
	d := r.doors[s.Session()]
	for range maxAtOnce {
		d.slots <- struct{}{}
	}
	want(t, s.call("memory-save", `{}`), 429)
	want(t, other.call("memory-save", `{}`), 200)
	<-d.slots
	want(t, s.call("memory-save", `{}`), 200)
}

// until polls, since what is waited for happens just after the answer.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never happened")
		}
	}
}
