package command

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"familiar/internal/chat"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][2]string{
		"/clear":             {"/clear", ""}, // AF-67
		"  /clear ":          {"/clear", ""}, // AF-67
		"/clear please":      {"/clear", "please"},
		"/clearance":         {"/clearance", ""},
		"please /clear":      {"", "please /clear"}, // AF-68
		"/remember\n a\nb  ": {"/remember", "a\nb"},
		"":                   {"", ""},
		"/":                  {"/", ""},
		"/recall\u3000茶":     {"/recall", "茶"},
	} {
		if name, rest := Split(text); [2]string{name, rest} != want {
			t.Errorf("%q: %q %q", text, name, rest)
		}
	}
}

func TestTake(t *testing.T) {
	var log []string
	full := errors.New("disk full")
	beganErr := map[string]error{"/help disk": full}
	hooks := Hooks{Now: time.Now,
		Began: func(_ context.Context, t chat.Turn) error {
			ev, _ := t.Trigger()
			return beganErr[ev.Text()]
		},
		Ended: func(_ context.Context, t chat.Turn, name, say string, err error) {
			log = append(log, fmt.Sprint(name, " ", say, " ", err, " ", t.Kind, " ", t.Standing.Now()))
		}}
	echo := func(_ context.Context, _ chat.Turn, rest string) (string, error) { return "did " + rest, nil }
	c := New(hooks, Command{Name: "/help", Run: echo}, Command{Name: "/forget", Needs: chat.Owner, Run: echo})

	cases := []struct {
		text  string
		trust chat.Trust
		taken bool
		log   string
	}{
		{"/help me", chat.Public, true, "/help did me <nil> notice public"},
		{"/forget it", chat.Owner, true, "/forget did it <nil> notice owner"},
		{"/forget it", chat.Known, false, ""},
		{"/unknown", chat.Owner, false, ""},
		{"help", chat.Owner, false, ""},
		{"/help disk", chat.Owner, true, "/help  disk full notice owner"},
	}
	for _, c1 := range cases {
		log = nil
		ev := chat.Event{ID: "e", Body: chat.Said{Text: c1.text}}
		if taken := c.Take(t.Context(), ev, c1.trust); taken != c1.taken || fmt.Sprint(log) != "["+c1.log+"]" {
			t.Errorf("%q: %v %q", c1.text, taken, log)
		}
	}
	if c.Take(t.Context(), chat.Event{Body: chat.Edited{Text: "/help"}}, chat.Owner) {
		t.Error("an edit is no command")
	}
	if len(c.For(chat.Public)) != 1 || len(c.For(chat.Owner)) != 2 {
		t.Error("who may use what")
	}
}

// A command that panics has failed like any other: its end is told.
func TestACommandThatPanics(t *testing.T) {
	var ended error
	hooks := Hooks{Now: time.Now, Began: func(context.Context, chat.Turn) error { return nil },
		Ended: func(_ context.Context, _ chat.Turn, _, _ string, err error) { ended = err }}
	c := New(hooks, Command{Name: "/help", Run: func(context.Context, chat.Turn, string) (string, error) { panic("nil map") }})
	if !c.Take(t.Context(), chat.Event{Body: chat.Said{Text: "/help"}}, chat.Owner) || ended == nil {
		t.Error("nobody is told:", ended)
	}
}
