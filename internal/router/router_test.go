package router

import (
	"errors"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/setting"
)

// form knows accounts and channels of one platform.
func form(id string) (func(chat.Event) bool, error) {
	kind, of, _ := strings.Cut(strings.TrimPrefix(id, "net/"), "/")
	switch kind {
	case "account":
		return func(ev chat.Event) bool { return ev.From.ID == of }, nil
	case "channel":
		return func(ev chat.Event) bool { return ev.Place.ID == of }, nil
	}
	return nil, errors.New("is no account and no channel")
}

func session(kind chat.SessionType, text string) Session {
	return Session{Type: kind, Cause: chat.Event{Place: chat.Place{ID: "lounge"}, From: chat.Person{ID: "ann"}, Body: chat.Said{Text: text}}}
}

func TestChoose(t *testing.T) {
	lounge := Rule{Match{Channel: "net/channel/lounge"}, "small"}
	code := Rule{Match{ContentKeywords: Keywords{"CODE", "bug"}}, "coder"}
	both := Rule{Match{Channel: "net/account/ann", ContentKeywords: Keywords{"code"}}, "anns"}
	wake := Rule{Match{SessionType: "spontaneous"}, "wake"}
	cases := []struct {
		name    string
		rules   []Rule
		session Session
		model   string
		rule    int
	}{
		{"AF-38 two rules match: the first counts", []Rule{lounge, code}, session("message", "code"), "small", 1},
		{"AF-39 the channel fits and the keyword does not", []Rule{both}, session("message", "hello"), "general", 0},
		{"all of a match fits", []Rule{both}, session("message", "show me the code"), "anns", 1},
		{"AF-40 capitals do not matter", []Rule{code}, session("message", "show me some code"), "coder", 1},
		{"one of the keywords is enough", []Rule{code}, session("message", "a BUG!"), "coder", 1},
		{"AF-41 keywords are for messages alone", []Rule{code}, session("spontaneous", "code"), "general", 0},
		{"AF-42 an empty match matches nothing", []Rule{{Model: "none"}, lounge}, session("message", "hi"), "small", 1},
		{"another channel, and another person", []Rule{{Match{Channel: "net/channel/attic"}, "attic"}, {Match{Channel: "net/account/bob"}, "bobs"}},
			session("message", "hi"), "general", 0},
		{"the type of session", []Rule{wake}, session("spontaneous", ""), "wake", 1},
		{"another type of session", []Rule{wake}, session("reminder", ""), "general", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := New(Config{Enabled: true, Rules: c.rules}, "general", form)
			if got := r.Choose(c.session); got.Model != c.model || got.Rule != c.rule {
				t.Errorf("chose %+v", got)
			}
		})
	}
}

func TestWithoutARule(t *testing.T) {
	off := New(Config{Rules: []Rule{{Match{SessionType: "message"}, "ruled"}}}, "general", form)
	s := session("message", "hi")
	if got := off.Choose(s); got.Model != "general" || got.Rule != 0 {
		t.Errorf("AF-43 off, without a section model: %+v", got)
	}
	s.Section = "section"
	if got := off.Choose(s); got.Model != "section" {
		t.Errorf("AF-43 off, with a section model: %+v", got)
	}
	if got := New(Config{}, "", form).Choose(session("message", "hi")); got.Model != "" {
		t.Errorf("nothing says a model: %+v", got)
	}
}

func TestCheckDropsWhatCannotCount(t *testing.T) {
	var notList, list Keywords
	if err := errors.Join(notList.UnmarshalJSON([]byte(`"code"`)), list.UnmarshalJSON([]byte(`["code"]`))); err != nil {
		t.Fatal(err)
	}
	good := Rule{Match{ContentKeywords: list}, "m"}
	cfg := Config{Enabled: true, Rules: []Rule{
		{Match{}, "m"},
		{Match{SessionType: "message"}, " "},
		{Match{Channel: "net/person/ann"}, "m"},
		{Match{SessionType: "chat"}, "m"},
		{Match{SessionType: "message", ContentKeywords: notList}, "m"},
		{Match{ContentKeywords: Keywords{"a", " "}}, "m"},
		good,
	}}
	bad := len(cfg.Rules) - 1
	if r := New(cfg, "general", form); len(r.rules) != 1 {
		t.Errorf("an unchecked configuration leaves %d rules", len(r.rules))
	}
	var report setting.Report
	cfg.Check(report.At("agent.modelRouting"), form)
	if len(cfg.Rules) != 1 || cfg.Rules[0].Match.ContentKeywords[0] != "code" {
		t.Errorf("kept %+v", cfg.Rules)
	}
	problems := report.Problems()
	if len(problems) != bad {
		t.Fatalf("%d problems for %d rules: %v", len(problems), bad, problems)
	}
	for _, p := range problems {
		if p.Severity != setting.Warning || !strings.HasPrefix(p.Path, "agent.modelRouting.rules[") {
			t.Errorf("%+v", p)
		}
	}
}
