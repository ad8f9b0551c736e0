package misskey

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/kv"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/misskeytest"
)

// BUG-K10: a stream that breaks is made again, by the keeper alone, and one at a time.
func TestABrokenStreamIsMadeAgain(t *testing.T) {
	r := newRig(t)
	r.start()
	for i := range 3 {
		r.Drop()
		r.until("the stream is back", func() bool { return r.Streams() == 1 && r.Calls("streaming") == i+2 })
		r.mention(misskeytest.Draft{Text: fmt.Sprint("@familiar ", i)})
	}
	want(t, r.texts(), "0", "1", "2")
	if n := r.Calls("streaming"); n != 4 {
		t.Errorf("%d streams for one connection and three losses", n)
	}
}

// BUG-C04: a stream that is open and silent is found out, disposed of and made again.
func TestADeadStreamIsFoundOut(t *testing.T) {
	r := newRig(t)
	r.beat, r.patience = 50*time.Millisecond, 500*time.Millisecond
	r.start()
	r.Deafen()
	r.until("another stream is there", func() bool { return r.Calls("streaming") >= 2 && r.Streams() == 1 })
	r.mention(misskeytest.Draft{Text: "@familiar hello"})
}

func TestAHeartbeatIsNoNoise(t *testing.T) {
	r := newRig(t)
	r.beat = 20 * time.Millisecond
	r.start()
	ev := r.mention(misskeytest.Draft{Text: "@familiar hello"})
	for range 20 {
		r.do(chat.Say{Place: ev.Place, Text: "again", ReplyTo: ev.Message})
	}
	if n := r.Calls("streaming"); n != 1 {
		t.Errorf("%d streams", n)
	}
}

// BUG-C03: what is said while the stream is away is heard when it is back, oldest first and once.
func TestNothingIsMissedWhileAway(t *testing.T) {
	r := connected(t)
	r.mention(misskeytest.Draft{Text: "@familiar one"})
	r.Mute(true)
	var want []string
	for i := range 120 {
		text := fmt.Sprint("note ", i)
		r.Write(r.ann, misskeytest.Draft{Text: "@familiar " + text})
		want = append(want, text)
	}
	bob := r.User("bob", "Bob", false)
	r.Chat(r.ann, "a word")
	r.Chat(bob, "another")
	r.Chat(r.ann, "and more")
	r.Mute(false)
	r.Drop()
	want = append(append([]string{"one"}, want...), "a word", "another", "and more")
	r.until("everything is heard", func() bool { return len(r.heard()) == len(want) })
	if got := r.texts(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	last := r.heard()[len(want)-2]
	if last.From.Name != "Bob" || last.Place.ID != "chat:"+bob.ID {
		t.Errorf("%+v", last)
	}
}

// BUG-C01: a new process hears what was said since the old one, and nothing of before anybody listened.
func TestANewProcessHearsWhatWasMissed(t *testing.T) {
	r := newRig(t)
	r.Write(r.ann, misskeytest.Draft{Text: "@familiar before our time"})
	last := r.Chat(r.ann, "before our time")
	r.until("that was before", func() bool {
		at, err := time.Parse(time.RFC3339, last.CreatedAt)
		return err == nil && time.Now().After(at)
	})
	r.start()
	r.mention(misskeytest.Draft{Text: "@familiar one"})
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r.until("the stream is gone", func() bool { return r.Streams() == 0 })
	r.Write(r.ann, misskeytest.Draft{Text: "@familiar two"})
	r.again()
	r.start()
	r.until("it is heard", func() bool { return len(r.heard()) == 2 })
	want(t, r.texts(), "one", "two")
}

// What is older than an hour is answered by nobody any more.
func TestWhatIsOldIsLeftAlone(t *testing.T) {
	s := since{store: kv.NewMemory(time.Now)}
	if err := s.store.Save(t.Context(), "misskey:heard:a", "1000", 0); err != nil {
		t.Fatal(err)
	}
	if err := s.load(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if age := time.Since(s.missing()); age < lookBack-time.Minute || age > lookBack+time.Minute {
		t.Errorf("it looks back %v", age)
	}
	at := time.Now()
	s.heard(at)
	s.heard(at.Add(-time.Hour))
	if from := s.missing(); !from.Equal(at.Add(-slack)) {
		t.Errorf("from %v, want a minute before %v", from, at)
	}
	s.heard(at.Add(24 * time.Hour)) // the clock of another instance is ahead
	if from := s.missing(); from.After(time.Now().Add(-slack)) {
		t.Errorf("from %v: what is said today would be missed", from)
	}
	s.behind(at.Add(-10 * time.Minute))
	if from := s.missing(); !from.Equal(at.Add(-10*time.Minute - slack)) {
		t.Errorf("from %v", from)
	}
}

// What is refused for now is handed in again, and is not skipped by what comes after it.
func TestWhatIsRefusedForNowComesAgain(t *testing.T) {
	r := newRig(t)
	busy := true
	r.outcome = func(ev chat.Event) chat.Outcome {
		if busy && ev.Text() == "one" {
			return chat.Busy
		}
		return chat.Accepted
	}
	r.start()
	r.Write(r.ann, misskeytest.Draft{Text: "@familiar one"})
	r.mention(misskeytest.Draft{Text: "@familiar two"})
	r.mu.Lock()
	busy = false
	r.mu.Unlock()
	r.Drop()
	r.until("it is heard", func() bool { return len(r.heard()) == 2 })
	want(t, r.texts(), "two", "one")
}

// BUG-C07, BUG-C12: what comes twice, or out of its order, is handed in once; so are the latest of very many.
func TestRepeatsAreHandedInOnce(t *testing.T) {
	r := connected(t)
	times := map[string]int{}
	r.mu.Lock()
	r.outcome = func(ev chat.Event) chat.Outcome {
		times[ev.Text()]++
		return chat.Accepted
	}
	r.mu.Unlock()
	one, two := r.Write(r.ann, misskeytest.Draft{Text: "@familiar one"}), r.Write(r.ann, misskeytest.Draft{Text: "@familiar two"})
	talk := r.Chat(r.ann, "three")
	for range 3 {
		r.Again(two.ID)
		r.Again(one.ID)
		r.AgainChat(talk.ID)
	}
	r.mention(misskeytest.Draft{Text: "@familiar end"})
	r.mu.Lock()
	defer r.mu.Unlock()
	for text, n := range times {
		if n != 1 {
			t.Errorf("%q was handed in %d times", text, n)
		}
	}
	var h handed
	for i := range mostHanded + 500 {
		h.add(chat.EventID(fmt.Sprint(i)))
		h.add(chat.EventID(fmt.Sprint(i)))
	}
	for i := range mostHanded + 500 {
		if h.has(chat.EventID(fmt.Sprint(i))) != (i >= 500) {
			t.Fatalf("event %d is known: %v", i, i < 500)
		}
	}
}

// A token that is not valid gives up at once, with the next step; nothing loops.
func TestAnInvalidTokenIsFatal(t *testing.T) {
	for _, c := range []struct{ path, code, says string }{
		{"i", "AUTHENTICATION_FAILED", "make a new one"}, {"i", "CREDENTIAL_REQUIRED", "make a new access token"},
		{"i", "YOUR_ACCOUNT_SUSPENDED", "suspended"}, {"i", "PERMISSION_DENIED", "docs/misskey.md"},
	} {
		r := newRig(t)
		status := 403
		if c.code == "CREDENTIAL_REQUIRED" {
			status = 401
		}
		r.Misbehave(c.path, misskeytest.Refusal(status, c.code))
		r.run()
		err := <-r.ended
		r.ended = nil
		var fatal platform.Fatal
		if !errors.As(err, &fatal) || !strings.Contains(err.Error(), c.says) || r.Calls("i") != 1 {
			t.Errorf("%s: %v", c.code, err)
		}
	}
}

// A token that is revoked while the bot runs ends the run when it shows, though the stream still stands.
func TestARevokedTokenEndsTheRun(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "@familiar hello"})
	r.Revoke(true)
	if _, err := r.Do(t.Context(), chat.Say{Place: ev.Place, Text: "x", ReplyTo: ev.Message}); err == nil {
		t.Error("it spoke with a token that is revoked")
	}
	err := <-r.ended
	r.ended = nil
	var fatal platform.Fatal
	if !errors.As(err, &fatal) || !strings.Contains(err.Error(), "make a new one") {
		t.Errorf("got %v", err)
	}
}

// A connection that cannot be made says why, without the token.
func TestWhatStandsInTheWay(t *testing.T) {
	for _, c := range []struct {
		path string
		plan misskeytest.Misbehaviour
		says string
	}{
		{"i", misskeytest.Misbehaviour{Status: 502, Body: badGateway}, "HTTP 502: 502 Bad Gateway"},
		{"i", misskeytest.Misbehaviour{Status: 200, Body: "{}"}, "names no account"},
		{"i", misskeytest.Misbehaviour{Status: 200, Body: badGateway}, "502 Bad Gateway"},
		{"i", misskeytest.Misbehaviour{Break: true}, "EOF"},
		{"streaming", misskeytest.Misbehaviour{Status: 502, Body: badGateway}, "streaming: HTTP 502"},
		{"streaming", misskeytest.Misbehaviour{Status: 200, Body: "hello"}, "streaming: HTTP 200"},
		{"streaming", misskeytest.Misbehaviour{Break: true}, "EOF"},
		{"streaming", misskeytest.Misbehaviour{Status: 401}, "make a new one"},
		{"streaming", misskeytest.Misbehaviour{Status: 403, Body: badGateway}, "streaming: HTTP 403"},
	} {
		r := newRig(t)
		r.Misbehave(c.path, c.plan)
		err := r.Run(t.Context(), r.hear, func() {})
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), misskeytest.Token) {
			t.Errorf("%s %+v: %v", c.path, c.plan, err)
		}
		var fatal platform.Fatal
		if errors.As(err, &fatal) != (c.plan.Status == 401) {
			t.Errorf("%s %+v: it gives up, or not: %v", c.path, c.plan, err)
		}
	}
}

// A catch-up that fails is no reason to hear nothing.
func TestAFailingCatchUpIsTriedAgain(t *testing.T) {
	r := newRig(t)
	r.Misbehave("notes/mentions", misskeytest.Misbehaviour{Status: 500})
	r.start()
	r.mention(misskeytest.Draft{Text: "@familiar hello"})
	l := &listener{Misskey: New(r.cfg, Deps{Log: slog.New(slog.DiscardHandler), Store: r.store}), hear: r.hear}
	defer l.api.CloseIdle()
	r.Misbehave("chat/history", misskeytest.Misbehaviour{Status: 500})
	if l.catchUp(t.Context()); !l.busy {
		t.Error("it does not know that something is missing")
	}
	for _, none := range []misskeytest.Misbehaviour{
		misskeytest.Refusal(404, "UNKNOWN_API_ENDPOINT"), misskeytest.Refusal(403, "PERMISSION_DENIED"), denial("ROLE_PERMISSION_DENIED"),
	} {
		r.Misbehave("chat/history", none)
		if l.catchUp(t.Context()); l.busy {
			t.Errorf("no chats are taken for a fault: %s", none.Body)
		}
	}
}

// denial is how an instance refuses what it calls an error of its own.
func denial(why string) misskeytest.Misbehaviour {
	return misskeytest.Misbehaviour{Status: 500, Body: `{"error":{"code":"INTERNAL_ERROR","message":"Internal error occurred.",` +
		`"id":"5d37dbcb-891e-41ca-a3d6-e690c97775ac","kind":"server","info":{"e":{"message":"` + why + `","code":"Error"}}}}`}
}

func TestRunsOneAtATime(t *testing.T) {
	r := connected(t)
	var fatal platform.Fatal
	if err := r.Run(t.Context(), r.hear, func() {}); !errors.As(err, &fatal) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if err := r.Run(ctx, r.hear, func() {}); err != nil {
		t.Errorf("a run that ended before it began: %v", err)
	}
}

// However many mentioned us or wrote while we were away, all of it is heard, and oldest first.
func TestAFloodIsNotCutOff(t *testing.T) {
	r := connected(t)
	r.mention(misskeytest.Draft{Text: "@familiar one"})
	want := []string{"one"}
	r.Mute(true)
	for i := range 620 {
		want = append(want, fmt.Sprint("note ", i))
		r.Write(r.ann, misskeytest.Draft{Text: "@familiar " + want[i+1]})
	}
	for i := range 130 {
		text := fmt.Sprint("word ", i)
		r.Chat(r.ann, text)
		want = append(want, text)
	}
	r.Mute(false)
	r.Drop()
	r.until("everything is heard", func() bool { return len(r.heard()) >= len(want) })
	if got := r.texts(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A chat that cannot be read any more keeps nothing else from being heard.
func TestAChatThatIsGoneStopsNothing(t *testing.T) {
	r := newRig(t)
	l := r.listener()
	r.Chat(r.User("bob", "Bob", false), "from bob")
	r.Chat(r.ann, "from ann")
	r.Misbehave("chat/messages/user-timeline", misskeytest.Refusal(400, "NO_SUCH_USER"))
	if l.catchUp(t.Context()); l.busy {
		t.Error("it will ask again for ever")
	}
	want(t, r.texts(), "from bob")
}

// A chat message whose author cannot be asked for at the moment is heard later.
func TestAnAuthorWhoCannotBeReadYet(t *testing.T) {
	r := newRig(t)
	l := r.listener()
	r.Chat(r.ann, "hello")
	r.Misbehave("chat/messages/show", misskeytest.Misbehaviour{Status: 502})
	l.catchUp(t.Context())
	if want(t, r.texts()); !l.busy {
		t.Error("it is lost")
	}
	l.catchUp(t.Context())
	want(t, r.texts(), "hello")
}

// A catch-up that is broken off leaves to the next process what it did not fetch.
func TestACatchUpThatIsBrokenOff(t *testing.T) {
	l := newRig(t).listener()
	from := time.Now().Add(-10 * time.Minute)
	l.since.behind(from)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.catchUp(ctx)
	if again := l.since.missing(); again.After(from) {
		t.Errorf("it goes on from %v, not %v", again, from)
	}
}

// A token that is revoked ends the run also when it is found out by a catch-up.
func TestARevokedTokenIsFoundOutByACatchUp(t *testing.T) {
	r := newRig(t)
	r.Misbehave("notes/mentions", misskeytest.Refusal(401, "AUTHENTICATION_FAILED"))
	var fatal platform.Fatal
	if err := r.Run(t.Context(), r.hear, func() {}); !errors.As(err, &fatal) {
		t.Errorf("got %v", err)
	}
}

// listener is what catches up as a run does, on a platform that does not run.
func (r *rig) listener() *listener {
	r.t.Helper()
	r.t.Cleanup(r.api.CloseIdle)
	if err := r.meet(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	if err := r.since.load(r.t.Context(), r.self().key()); err != nil {
		r.t.Fatal(err)
	}
	return &listener{Misskey: r.Misskey, hear: r.hear}
}
