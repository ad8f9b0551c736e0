package gate

import (
	"testing"

	"familiar/internal/chat"
)

func admits(ids ...string) func(chat.Person) bool {
	return func(p chat.Person) bool {
		for _, id := range ids {
			if p.Platform == "discord" && p.ID == id {
				return true
			}
		}
		return false
	}
}

func TestAnAdmittedPersonIsHeardInPrivateOnly(t *testing.T) {
	cases := []struct {
		name    string
		policy  Policy
		event   chat.Event
		rule    string
		outcome chat.Outcome
	}{
		{"in private", ReplyChannels, direct(said(ann)), "admitted", 0},
		{"in private, under the public policy", ReplyPublic, direct(said(ann)), "admitted", 0},
		{"in a group the policy decides", ReplyChannels, said(ann), "policy", chat.Refused},
		{"a place of unknown kind is no private one", ReplyChannels, with(direct(said(ann)), func(e *chat.Event) { e.Place.Kind = "" }), "policy", chat.Refused},
		{"the same id on another network", ReplyChannels, direct(misskey(said(ann))), "policy", chat.Refused},
		{"somebody else", ReplyChannels, direct(said(bob)), "policy", chat.Refused},
		{"a program stays one", ReplyChannels, with(direct(said(ann)), func(e *chat.Event) { e.From.Bot = true }), "bot", chat.Ignored},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := New(list(c.policy), nil, admits(ann)).Early(c.event)
			if v.Rule != c.rule || v.Outcome != c.outcome {
				t.Fatalf("got %+v, want rule %q, outcome %d", v, c.rule, c.outcome)
			}
		})
	}
	g := New(list(ReplyChannels), nil, admits(ann))
	if got := g.Trust(said(ann)); got != chat.Known {
		t.Errorf("an admitted person is %v", got)
	}
	if got := g.Trust(said(bob)); got != chat.Public {
		t.Errorf("somebody else is %v", got)
	}
}

func TestAnAdmittedPersonIsLimitedLikeAnybody(t *testing.T) {
	c := list(ReplyChannels)
	c.RateLimit = Rate{Enabled: true, MaxRequestsPerWindow: 1, WindowMs: 60_000, CooldownMs: 60_000}
	g := New(c, nil, admits(ann))
	if v := g.Judge(direct(said(ann))); v.Decided {
		t.Fatalf("the first: %+v", v)
	}
	if v := g.Judge(direct(said(ann))); v.Rule != "rate" {
		t.Fatalf("the second: %+v", v)
	}
}

// Only a person whom nothing but the policy keeps out, in private, is one whom an owner could admit.
func TestWhoIsAStranger(t *testing.T) {
	g := New(list(ReplyChannels), theOwner, nil)
	cases := []struct {
		name  string
		event chat.Event
		want  bool
	}{
		{"in private", direct(said(ann)), true},
		{"in a group", said(ann), false},
		{"a place of unknown kind", with(direct(said(ann)), func(e *chat.Event) { e.Place.Kind = "" }), false},
		{"a program", with(direct(said(ann)), func(e *chat.Event) { e.From.Bot = true }), false},
		{"ourselves", with(direct(said(ann)), func(e *chat.Event) { e.From.Us = true }), false},
		{"not addressed", with(direct(said(ann)), func(e *chat.Event) { e.Addressed = false }), false},
		{"a recall", with(direct(said(ann)), func(e *chat.Event) { e.Body = chat.Recalled{Of: "1"} }), false},
		{"a button", with(direct(said(ann)), func(e *chat.Event) { e.Body = chat.Pressed{Button: "1"} }), false},
		{"nobody", direct(said("")), false},
		{"the owner", with(direct(said("owner")), func(e *chat.Event) { e.From.Platform = "web" }), false},
	}
	for _, c := range cases {
		if v := g.Early(c.event); v.Stranger != c.want {
			t.Errorf("%s: %+v, want stranger %v", c.name, v, c.want)
		}
	}
}
