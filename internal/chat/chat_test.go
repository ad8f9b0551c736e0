package chat

import (
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"
)

func TestIDsCannotRunIntoEachOther(t *testing.T) {
	web := Place{Platform: "web", ID: "a"}
	same := NewEventID("me", web, KindSaid, "1", "")
	if same != NewEventID("me", Place{Platform: "web", ID: "a", Kind: Direct, Guild: "g"}, KindSaid, "1", "") {
		t.Fatal("what is known of a place besides must not matter")
	}
	others := map[string]EventID{
		"account":  NewEventID("you", web, KindSaid, "1", ""),
		"place":    NewEventID("me", Place{Platform: "web", ID: "b"}, KindSaid, "1", ""),
		"platform": NewEventID("me", Place{Platform: "we", ID: "ba"}, KindSaid, "1", ""),
		"kind":     NewEventID("me", web, KindEdited, "1", ""),
		"source":   NewEventID("me", web, KindSaid, "2", ""),
		"revision": NewEventID("me", web, KindSaid, "1", "2"),
		"shifted":  NewEventID("me", web, KindSaid, "", "1"),
	}
	for what, id := range others {
		if id == same {
			t.Errorf("another %s, the same id", what)
		}
	}
	if NewRoomKey("a", "b:1") == NewRoomKey("a:b", "1") || NewRoomKey("a", "") == NewRoomKey("a") {
		t.Fatal("two lists of parts give one key")
	}
}

func TestEveryEventSurvivesAFile(t *testing.T) {
	bodies := []Body{
		Said{Text: "hi\u0000\n", ReplyTo: "0", Attachments: []Attachment{{ID: "1", MIME: "image/png", Size: 3}}},
		Edited{Of: "1", Text: "x"}, Recalled{Of: "1"}, Reacted{To: "1", Emoji: "👍", Removed: true},
		Pressed{Button: "b"}, Woke{Job: "j", Note: "n"}, Noticed{Surface: "mail", Text: "t"}, Settled{Work: "w", Text: "t"},
	}
	if len(bodies) != len(decoders) {
		t.Fatalf("%d bodies are tried, %d are known", len(bodies), len(decoders))
	}
	for _, body := range bodies {
		want := Event{ID: "e", At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Message: "m", Addressed: true, ByProgram: true, Body: body,
			Place: Place{Platform: "web", ID: "p", Kind: Group, Guild: "g"}, From: Person{Platform: "web", ID: "u", Name: "Ann"}}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Event
		if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", body.Kind(), got, err)
		}
	}
	var ev Event
	if err := json.Unmarshal([]byte(`{"id":"e","kind":"dreamt","body":{}}`), &ev); err == nil {
		t.Fatal("an unknown kind was taken")
	}
	if _, err := json.Marshal(Event{ID: "e"}); err == nil {
		t.Fatal("an event without a body was written")
	}
}

func TestStandingOnlyFalls(t *testing.T) {
	s := NewStanding(Owner)
	var wg sync.WaitGroup
	for _, to := range []Trust{Known, Public, Owner, Known} {
		wg.Go(func() { s.Fall(to) })
	}
	wg.Wait()
	if s.Now() != Public {
		t.Fatal(s.Now())
	}
	copied := Turn{Standing: s}
	copied.Standing.Fall(Foreign)
	s.Fall(Owner)
	if s.Now() != Foreign {
		t.Fatal("it rose to", s.Now())
	}
	var none *Standing
	none.Fall(Owner)
	if none.Now() != Foreign || new(Standing).Now() != Foreign {
		t.Fatal("an unset standing must be the lowest")
	}
}

func TestUserErrorKeepsItsCause(t *testing.T) {
	cause := errors.New("disk full")
	err := UserError{Say: "please wait", Err: cause}
	if !errors.Is(err, cause) || err.Error() != "disk full" || (UserError{Say: "x"}).Error() != "x" {
		t.Fatal(err)
	}
}

func TestAnswers(t *testing.T) {
	ev := Event{Message: "m", Place: Place{Platform: "web", ID: "p"}, Body: Said{}}
	turn := NewTurn(Talk, ev, Known, time.Now())
	if turn.Answers() != "m" || turn.Standing.Now() != Known || turn.ID == NewTurn(Talk, ev, Known, time.Now()).ID {
		t.Fatalf("%+v", turn)
	}
	if (Turn{}).Answers() != "" {
		t.Fatal("a turn without a cause answers nothing")
	}
}
