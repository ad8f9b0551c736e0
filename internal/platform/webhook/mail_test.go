package webhook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
)

var place = chat.Place{Platform: Name, ID: "c1", Kind: chat.Direct}

func (l *live) say(t *testing.T, text string, more ...func(*chat.Say)) chat.Receipt {
	t.Helper()
	say := chat.Say{Place: place, Text: text}
	for _, change := range more {
		change(&say)
	}
	receipt, err := l.Do(t.Context(), say)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

func status(codes ...int) func(int, letter) (int, http.Header) {
	return func(n int, _ letter) (int, http.Header) { return codes[min(n, len(codes))-1], nil }
}

// A reply says whom and what it answers, and which part of the answer it is, as the specification has it.
func TestTheFormOfReplies(t *testing.T) {
	f := newFar(t)
	defer f.Close()
	cfg := config(f.URL)
	cfg.Headers = map[string]string{"X-Api-Key": "k"}
	cfg.Format = Plain
	l := open(t, file(t), cfg)
	turn := func(s *chat.Say) { s.Turn = "t1" }
	first := l.say(t, "**one** `my_x`", turn, func(s *chat.Say) { s.ReplyTo = "m1" })
	second := l.say(t, "two", turn)
	third := l.say(t, "three", func(s *chat.Say) { s.Turn, s.ReplyTo = "t2", "m2" })
	l.drained(t)
	want := []letter{
		{Type: typeMessage, ChatID: "c1", UserID: "author of m1", MessageID: first.Message, ReplyTo: "m1", Sequence: 1, Text: "one my_x"},
		{Type: typeMessage, ChatID: "c1", UserID: "author of m1", MessageID: second.Message, ReplyTo: "m1", Sequence: 2, Text: "two"},
		{Type: typeMessage, ChatID: "c1", UserID: "author of m2", MessageID: third.Message, ReplyTo: "m2", Sequence: 1, Text: "three"},
	}
	if got := f.letters(); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
	if f.headers[0].Get("X-Api-Key") != "k" || f.headers[0].Get("Content-Type") != "application/json; charset=utf-8" {
		t.Errorf("headers %v", f.headers[0])
	}
	if !slices.Equal(f.keys, []string{string(first.Message), string(second.Message), string(third.Message)}) {
		t.Errorf("keys %q", f.keys)
	}
}

func TestOtherActions(t *testing.T) {
	f := newFar(t)
	defer f.Close()
	l := open(t, file(t), config(f.URL, doReact, doAsk, doFiles))
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("ABC"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, a := range []chat.Action{
		chat.React{Place: place, Message: "m1", Emoji: "👍"},
		chat.Ask{Place: place, ReplyTo: "m1", Text: "Shall I?", Options: []chat.Option{{ID: "y", Label: "Yes"}}},
		chat.SendFile{Place: place, ReplyTo: "m1", Text: "here", Files: []chat.File{{Path: path, Name: "../a.txt", MIME: "text/plain"}}},
	} {
		if _, err := l.Do(t.Context(), a); err != nil {
			t.Errorf("%T: %v", a, err)
		}
	}
	l.drained(t)
	got := f.letters()
	for i := range got[1:] {
		got[1+i].MessageID = ""
	}
	want := []letter{{Type: typeReaction, ChatID: "c1", MessageID: "m1", Emoji: "👍"},
		{Type: typeQuestion, ChatID: "c1", UserID: "author of m1", ReplyTo: "m1", Sequence: 1, Text: "Shall I?", Options: []option{{"y", "Yes"}}},
		{Type: typeFiles, ChatID: "c1", UserID: "author of m1", ReplyTo: "m1", Sequence: 2, Text: "here",
			Files: []enclosure{{"a.txt", "text/plain", "QUJD"}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	l := open(t, file(t), config("http://127.0.0.1:1/", doFiles))
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, maxEnclosed+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]chat.Action{
		"a file that is too large": chat.SendFile{Place: place, Files: []chat.File{{Path: large, Name: "l"}}},
		"a folder":                 chat.SendFile{Place: place, Files: []chat.File{{Path: filepath.Dir(large), Name: "l"}}},
		"no file":                  chat.SendFile{Place: place, Files: []chat.File{{Path: large + "x", Name: "l"}}},
		"another platform":         chat.Say{Place: chat.Place{Platform: "web", ID: "c"}, Text: "x"},
		"no chat":                  chat.Say{Place: chat.Place{Platform: Name}, Text: "x"},
	} {
		if _, err := l.Do(t.Context(), a); err == nil || errors.Is(err, platform.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	mute := open(t, file(t), config(""))
	if _, err := mute.Do(t.Context(), chat.Say{Place: place, Text: "x"}); !errors.Is(err, platform.ErrUnsupported) {
		t.Errorf("without an address: %v", err)
	}
	if s := mute.stand(t); s != (Stand{}) {
		t.Errorf("without an address, in the queue: %+v", s)
	}
}

// What fails is sent again with the same key and a new signature, and a chat keeps its order meanwhile.
func TestRetriesKeepOrder(t *testing.T) {
	f := newFar(t)
	defer f.Close()
	f.answer = status(500, 503, 429, 408, 200)
	l := open(t, file(t), config(f.URL))
	for i := range 5 {
		l.say(t, fmt.Sprint("text ", i))
	}
	l.drained(t)
	var texts []string
	for _, m := range f.letters() {
		texts = append(texts, m.Text)
	}
	if want := []string{"text 0", "text 0", "text 0", "text 0", "text 0", "text 1", "text 2", "text 3", "text 4"}; !slices.Equal(texts, want) {
		t.Errorf("came: %q", texts)
	}
	for _, key := range f.keys[:5] {
		if key != f.keys[0] || f.keys[5] == key {
			t.Errorf("keys %q", f.keys)
		}
	}
	if s := l.stand(t); s.Dead != 0 {
		t.Errorf("%+v", s)
	}
}

func TestASlowChatHoldsUpNoOther(t *testing.T) {
	f := newFar(t)
	defer f.Close()
	f.answer = func(_ int, m letter) (int, http.Header) {
		if m.ChatID == "c1" {
			return 503, http.Header{"Retry-After": {"3000"}}
		}
		return 200, nil
	}
	l := open(t, file(t), config(f.URL))
	l.say(t, "never")
	until(t, "the first try failed", func() bool { return len(f.letters()) == 1 })
	for i := range 20 {
		l.say(t, "soon", func(s *chat.Say) { s.Place.ID = fmt.Sprint("other ", i) })
	}
	until(t, "the others have theirs", func() bool { return len(f.letters()) == 21 })
	until(t, "one waits", func() bool { return l.stand(t).Queued == 1 })
	var due int64
	if err := l.db.Read().QueryRow(`SELECT due FROM webhook_out WHERE state = 'queued' AND tries = 1`).Scan(&due); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(time.UnixMilli(due)); left < 2000*time.Second || left > 3001*time.Second {
		t.Errorf("the other side asked for 3000 s, the next try is in %v", left)
	}
}

// Replies that cannot be delivered are put aside, without what was said in the list, and can be sent again.
func TestDeadLetters(t *testing.T) {
	f := newFar(t)
	defer f.Close()
	var good atomic.Bool
	f.answer = func(_ int, m letter) (int, http.Header) {
		switch {
		case good.Load(), m.Text == "fine":
			return 200, nil
		case m.Text == "refused":
			return 410, nil
		case m.Text == "led away":
			return 302, http.Header{"Location": {"http://127.0.0.1:1/"}}
		}
		return 500, nil
	}
	cfg := config(f.URL + "/?key=canary")
	cfg.MaxAttempts = 3
	l := open(t, file(t), cfg)
	for _, text := range []string{"refused", "led away", "broken", "fine"} {
		l.say(t, text)
	}
	l.drained(t)
	dead, err := l.Dead(t.Context(), 10)
	if err != nil || len(dead) != 3 {
		t.Fatalf("%+v %v", dead, err)
	}
	for i, want := range []struct {
		attempts int
		fault    string
	}{{1, "HTTP 410"}, {1, "HTTP 302: redirects are not followed; set replyUrl to where it leads"}, {3, "HTTP 500"}} {
		if d := dead[i]; d.Attempts != want.attempts || d.Fault != want.fault || d.Chat != "c1" || time.Since(d.At) > time.Minute {
			t.Errorf("%+v, want %+v", d, want)
		}
	}
	if n := len(f.letters()); n != 6 {
		t.Errorf("%d attempts, want 6", n)
	}
	if err := l.Retry(t.Context(), "b_unknown"); !errors.Is(err, ErrNoLetter) {
		t.Errorf("a letter that is not there: %v", err)
	}
	good.Store(true)
	if err := l.Retry(t.Context(), dead[2].ID); err != nil {
		t.Fatal(err)
	}
	l.drained(t)
	if got := f.letters(); got[len(got)-1].Text != "broken" || l.stand(t) != (Stand{Dead: 2}) {
		t.Errorf("after a retry: %+v, %+v", got[len(got)-1], l.stand(t))
	}
	if n, err := l.RetryAll(t.Context()); n != 2 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	l.drained(t)
	if s := l.stand(t); s != (Stand{}) {
		t.Errorf("%+v", s)
	}
}

// What waits survives a restart, and so does the key of what was delivered.
func TestTheQueueSurvivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "familiar.db")
	f := newFar(t)
	defer f.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	l := open(t, path, config(gone.URL+"/?key=canary"))
	key := func(s *chat.Say) { s.Key = "k1" }
	first := l.say(t, "kept", key)
	until(t, "it was tried", func() bool {
		var tries int
		var fault string
		if err := l.db.Read().QueryRow(`SELECT tries, fault FROM webhook_out`).Scan(&tries, &fault); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(fault, "canary") {
			t.Errorf("BUG-J13: the key of the address stands in %q", fault)
		}
		return tries > 0 && fault != ""
	})
	l.end()
	l = open(t, path, config(f.URL))
	if again := l.say(t, "kept", key); again.Message != first.Message {
		t.Errorf("the same key gave %q and %q", first.Message, again.Message)
	}
	l.drained(t)
	l.end()
	l = open(t, path, config(f.URL))
	if again := l.say(t, "kept", key); again.Message != first.Message || !again.At.Equal(first.At) {
		t.Errorf("the same key gave %+v and %+v", first, again)
	}
	l.drained(t)
	if got := f.letters(); len(got) != 1 || got[0].Text != "kept" {
		t.Errorf("came: %+v", got)
	}
	var words int
	if err := l.db.Read().QueryRow(`SELECT sum(length(body)) FROM webhook_out`).Scan(&words); err != nil || words != 0 {
		t.Errorf("%d bytes are kept of what was delivered: %v", words, err)
	}
}

// What is said while the program leaves is still sent once.
func TestTheLastWords(t *testing.T) {
	f := newFar(t)
	defer f.Close()
	l := still(t, file(t), config(f.URL))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.enqueue(t.Context(), packet{letter: letter{Type: typeMessage, ChatID: "c9", Text: "bye"}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Deliver(ctx); err != nil {
		t.Fatal(err)
	}
	if got := f.letters(); len(got) != 1 || got[0].Text != "bye" {
		t.Errorf("came: %+v", got)
	}
}

func TestAFullQueueRefuses(t *testing.T) {
	l := still(t, file(t), config("http://127.0.0.1:1/"))
	if err := l.db.Write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < ?)
			INSERT INTO webhook_out (id, key, place, turn, thread, person, counted, body, state, tries, due, fault, at)
			SELECT 'x' || i, '', 'c', '', '', '', 0, '{}', 'queued', 1, 9e15, '', ? FROM n`, maxQueued, time.Now().UnixMilli())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	_, err := l.Do(t.Context(), chat.Say{Place: place, Text: "one more"})
	var later platform.Temporary
	if !errors.As(err, &later) {
		t.Errorf("%v", err)
	}
}

func TestBackOff(t *testing.T) {
	w := &Webhook{cfg: Config{RetryMs: 1000}}
	for tries, most := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 11: longest, 500: longest} {
		for range 50 {
			if wait := w.backOff(tries); wait < most/2 || wait > most {
				t.Errorf("after %d tries %v", tries, wait)
			}
		}
	}
}

// The list of what goes next may be older than the last attempt.
func TestWhatWentOutDoesNotGoAgain(t *testing.T) {
	f := newFar(t)
	defer f.Close()
	f.answer = status(500, 200)
	l := still(t, file(t), config(f.URL))
	l.say(t, "once")
	for range 2 { // a failed attempt, and one that succeeds
		heads, err := l.heads(t.Context(), 10)
		if err != nil || len(heads) != 1 {
			t.Fatalf("%+v %v", heads, err)
		}
		before := len(f.letters())
		l.deliver(t.Context(), heads[0])
		l.deliver(t.Context(), heads[0])
		if n := len(f.letters()) - before; n != 1 {
			t.Errorf("one head was sent %d times", n)
		}
	}
}
