package web

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/chat"
)

// stage shows one stage of a turn.
func (s *site) stage(session string, turn chat.TurnID, p chat.Progress) {
	s.t.Helper()
	s.do(chat.Show{Place: placeOf(session), Turn: turn, Progress: p})
}

func TestAStreamTellsATurn(t *testing.T) {
	s := fresh(t)
	session := s.begin("hello")
	live := s.listen(session, "")
	live.expect("0 session.started", `1 message.received {"text":"hello"}`)
	s.stage(session, "t1", chat.Progress{Stage: chat.TurnStarted})
	live.expect(`2 turn.started {"turnId":"t1"}`)
	s.stage(session, "t1", chat.Progress{Stage: chat.ToolStarted, Tool: "send-reply"})
	sent := s.do(chat.Say{Place: placeOf(session), Text: "hi", ReplyTo: s.heard()[0].Message, Key: "k", Turn: "t1"})
	s.stage(session, "t1", chat.Progress{Stage: chat.ToolEnded, Tool: "send-reply", OK: true})
	s.stage(session, "t2", chat.Progress{Stage: chat.TurnStarted})
	s.stage(session, "t1", chat.Progress{Stage: chat.TurnCompleted})
	s.stage(session, "t2", chat.Progress{Stage: chat.TurnFailed, Reason: "why", Next: "what now"})
	s.do(chat.Edit{Place: placeOf(session), Message: sent.Message, Text: "hi!"})
	s.do(chat.React{Place: placeOf(session), Message: s.heard()[0].Message, Emoji: "👋"})
	rest := []string{
		`3 actions.requested {"turnId":"t1","tool":"send-reply"}`,
		fmt.Sprintf(`4 message.completed {"messageId":"%s","text":"hi","replyTo":"%s","turnId":"t1"}`, sent.Message, s.heard()[0].Message),
		`5 action.result {"turnId":"t1","tool":"send-reply","ok":true}`,
		`6 turn.started {"turnId":"t2"}`, `7 turn.completed {"turnId":"t1"}`,
		`8 turn.failed {"turnId":"t2","reason":"why","next":"what now"}`, `9 session.waiting {}`,
		`10 message.updated {"text":"hi!"}`, `11 message.reacted {"emoji":"👋"}`,
	}
	live.expect(rest...)
	s.listen(session, "?startIndex=3").expect(rest...)
	s.listen(session, "?startIndex=-2").expect(rest[7:]...)
	s.listen(session, "?startIndex=-99").expect("0 session.started")
}

// What a message causes stands below it, even when hear itself answers.
func TestAMessageStandsAboveItsAnswer(t *testing.T) {
	s := fresh(t)
	s.hears = func(ctx context.Context, ev chat.Event) chat.Outcome {
		if _, err := s.Do(ctx, chat.Say{Place: ev.Place, Text: "help is here", Key: string(ev.ID)}); err != nil {
			t.Error(err)
		}
		return chat.Accepted
	}
	session := s.begin("/help")
	s.listen(session, "").expect("0 session.started", `1 message.received {"text":"/help"}`,
		`2 message.completed {"text":"help is here"}`)
}

func TestAStreamGoesOnAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "web.db")
	s := serve(t, path)
	session := s.begin("hello")
	live := s.listen(session, "")
	live.expect("0 session.started", "1 message.received")
	s.stage(session, "t1", chat.Progress{Stage: chat.TurnStarted})
	live.expect("2 turn.started")
	s.close()
	if got, ok := live.next(); ok {
		t.Errorf("after the end came %+v", got)
	}
	s = serve(t, path)
	// The turn that died is closed, so that nobody waits for it.
	s.listen(session, "?startIndex=2").expect("2 turn.started", `3 turn.failed {"turnId":"t1"}`, "4 session.waiting")
	s.want(202, "POST", "/v1/sessions/"+session, `{"message":"again"}`)
	s.listen(session, "?startIndex=5").expect(`5 message.received {"text":"again"}`)
}

func TestADeletedMessageIsToldNoMore(t *testing.T) {
	s := fresh(t)
	session := s.begin("hello")
	place := placeOf(session)
	sent := s.do(chat.Say{Place: place, Text: "a secret", Key: "k"})
	s.do(chat.Edit{Place: place, Message: sent.Message, Text: "a worse secret"})
	s.do(chat.Delete{Place: place, Message: sent.Message})
	if lines, err := s.lines(t.Context(), session, 0, 99, 99); err != nil || strings.Contains(asJSON(t, lines), "secret") {
		t.Errorf("%s, %v", asJSON(t, lines), err)
	}
	for _, a := range []chat.Action{
		chat.Edit{Place: place, Message: s.heard()[0].Message, Text: "not ours"},
		chat.Delete{Place: place, Message: "b_unknown"},
		chat.React{Place: place, Message: "b_unknown", Emoji: "x"},
		chat.Say{Place: place, Text: strings.Repeat("字", MaxText+1)},
		chat.Say{Place: placeOf("s_" + strings.Repeat("0", 32)), Text: "to nobody"},
		chat.Say{Place: placeOf("../x"), Text: "to nobody"},
		chat.Say{Place: chat.Place{Platform: "discord", ID: session}, Text: "elsewhere"},
	} {
		if receipt, err := s.Do(t.Context(), a); err == nil {
			t.Errorf("Do(%T) gave %+v", a, receipt)
		}
	}
	s.do(chat.Say{Place: place, Text: strings.Repeat("字", MaxText)})
}

func TestOnlyTheLastEventsAreKept(t *testing.T) {
	s := fresh(t)
	session := s.begin("hello")
	f, done, err := s.use(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	err = f.write(t.Context(), s.Web, func(p *pen) error {
		for range keepEvents + 50 {
			if _, err := put(t.Context(), p, messageReacted, nothing{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.want(410, "GET", "/v1/sessions/"+session+"/stream?startIndex=51", ""); !strings.Contains(got, `"firstIndex":52`) {
		t.Errorf("410 says %s", got)
	}
	for _, query := range []string{"?startIndex=52", "", "?startIndex=-99999"} {
		l := s.listen(session, query)
		l.expect("52 message.reacted")
		for i := 53; i < keepEvents+52; i++ {
			if got, ok := l.next(); !ok || got.Index != int64(i) {
				t.Fatalf("%s: got %+v, want index %d", query, got, i)
			}
		}
		l.close()
	}
}

func TestOldEventsAreForgotten(t *testing.T) {
	s := fresh(t)
	old, mixed := s.begin("an old one"), s.begin("a mixed one")
	long := time.Now().Add(-keepFor - time.Hour).UnixMilli()
	err := s.db.Write(t.Context(), func(tx *sql.Tx) error {
		for _, step := range []string{`UPDATE web_events SET at = ?`, `UPDATE web_messages SET at = ?`,
			`UPDATE web_sessions SET created = ?1, active = ?1`} {
			if _, err := tx.Exec(step, long); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.want(202, "POST", "/v1/sessions/"+mixed, `{"message":"new"}`)
	if err := s.forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.want(410, "GET", "/v1/sessions/"+old+"/stream?startIndex=0", "")
	s.want(410, "GET", "/v1/sessions/"+mixed+"/stream?startIndex=1", "")
	s.listen(mixed, "").expect(`2 message.received {"text":"new"}`)
	if got := s.want(200, "GET", "/v1/sessions", ""); strings.Contains(got, old) || !strings.Contains(got, mixed) {
		t.Errorf("listed: %s", got)
	}
	s.want(202, "POST", "/v1/sessions/"+old, `{"message":"back"}`)
	s.listen(old, "").expect(`2 message.received {"text":"back"}`)
}

// Readers that come and go while others write see each line once, in order.
func TestManyReadersAndWriters(t *testing.T) {
	s := fresh(t)
	session := s.begin("hello")
	var writers, readers sync.WaitGroup
	const each = 25
	for w := range 4 {
		writers.Go(func() {
			for i := range each {
				if _, err := s.Do(t.Context(), chat.Say{Place: placeOf(session), Text: "x", Key: fmt.Sprint(w, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 4 {
		l := s.listen(session, "")
		readers.Go(func() {
			for i := range 2 + 4*each {
				if got, ok := l.next(); !ok || got.Index != int64(i) {
					t.Errorf("got %+v, %v, want index %d", got, ok, i)
					return
				}
			}
		})
	}
	writers.Wait()
	readers.Wait()
}

// slow is a client that takes nothing after the header.
type slow struct {
	*httptest.ResponseRecorder
	deadline time.Time
	blanks   int
}

func (s *slow) SetWriteDeadline(at time.Time) error { s.deadline = at; return nil }
func (s *slow) SetReadDeadline(time.Time) error     { return nil }
func (s *slow) FlushError() error                   { return nil }
func (s *slow) Write(p []byte) (int, error) {
	if string(p) == "\n" {
		if s.blanks++; s.blanks == 3 {
			time.Sleep(time.Until(s.deadline))
			return 0, context.DeadlineExceeded
		}
	}
	return s.ResponseRecorder.Write(p)
}

// A quiet stream shows that it lives, and a client that takes nothing is let go.
func TestKeepAliveAndSlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openDB(t, filepath.Join(t.TempDir(), "web.db"))
		w := newWeb(t, db, Deps{Log: slog.New(slog.DiscardHandler)})
		session := "s_" + hash("session", "x")
		f, done, err := w.use(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.write(t.Context(), w, func(p *pen) error { _, err := put(t.Context(), p, sessionStarted, nothing{}); return err }); err != nil {
			t.Fatal(err)
		}
		done()
		mux := http.NewServeMux()
		w.Routes(mux)
		client := &slow{ResponseRecorder: httptest.NewRecorder()}
		began := time.Now()
		mux.ServeHTTP(client, httptest.NewRequestWithContext(t.Context(), "GET", "/v1/sessions/"+session+"/stream", nil))
		if took := time.Since(began); took != 3*quiet+writeTime {
			t.Errorf("the client was let go after %v", took)
		}
		if got := client.Body.String(); !strings.HasSuffix(got, "\n\n\n") || !json.Valid([]byte(got)) {
			t.Errorf("it got %q", got)
		}
		if len(w.feeds) != 0 {
			t.Errorf("%d feeds stay", len(w.feeds))
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}
