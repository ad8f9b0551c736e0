package gate

import (
	"testing"

	"familiar/internal/chat"
)

const (
	ann = "12345678901234567"
	bob = "22345678901234567"
)

// said is a message of a Discord user in a guild channel, addressed to us.
func said(user string) chat.Event {
	return chat.Event{
		Place:     chat.Place{Platform: "discord", ID: "90000000000000001", Kind: chat.Group},
		From:      chat.Person{Platform: "discord", ID: user, Name: "Somebody"},
		Addressed: true,
		Body:      chat.Said{Text: "hello"},
	}
}

func direct(ev chat.Event) chat.Event {
	ev.Place = chat.Place{Platform: ev.From.Platform, ID: "90000000000000002", Kind: chat.Direct}
	return ev
}

func misskey(ev chat.Event) chat.Event {
	ev.Place.Platform, ev.From.Platform = "misskey", "misskey"
	return ev
}

func with(ev chat.Event, change func(*chat.Event)) chat.Event {
	change(&ev)
	return ev
}

func list(policy Policy, ids ...string) Config {
	c := Defaults()
	c.ReplyPolicy = policy
	for _, id := range ids {
		c.Channels = append(c.Channels, Entry{ID: id})
	}
	return c
}

var theOwner = []chat.Person{{Platform: "web", ID: "owner"}, {Platform: "discord", ID: ""}}

func TestEarly(t *testing.T) {
	annEntry := "discord/account/" + ann
	off := list(ReplyChannels)
	off.Channels = []Entry{{ID: annEntry, Disabled: true}}
	ownWeb := direct(with(said("owner"), func(ev *chat.Event) { ev.From.Platform = "web" }))

	cases := []struct {
		name    string
		config  Config
		event   chat.Event
		rule    string
		outcome chat.Outcome // 0 means that the event goes on
	}{
		{"our own words", list(ReplyAll), with(said(ann), func(e *chat.Event) { e.From.Us = true }), "self", chat.Ignored},
		{"another program", list(ReplyAll), with(said(ann), func(e *chat.Event) { e.From.Bot = true }), "bot", chat.Ignored},
		{"not for us", list(ReplyAll), with(said(ann), func(e *chat.Event) { e.Addressed = false }), "addressed", chat.Ignored},
		{"a listed person, not for us", list(ReplyAll, annEntry), with(said(ann), func(e *chat.Event) { e.Addressed = false }), "addressed", chat.Ignored},
		{"a recall holds no words", list(ReplyAll), with(said(ann), func(e *chat.Event) { e.Addressed, e.Body = false, chat.Recalled{Of: "1"} }), "policy", 0},
		{"an edit of what we may have", list(ReplyAll), with(said(ann), func(e *chat.Event) { e.Addressed, e.Body = false, chat.Edited{Of: "1", Text: "x"} }), "policy", 0},
		{"a clock of ours", list(ReplyChannels), with(said(ann), func(e *chat.Event) { e.Addressed, e.Body = false, chat.Woke{Job: "j"} }), "source", 0},
		{"all, in public", list(ReplyAll), said(ann), "policy", 0},
		{"all, in private", list(ReplyAll), direct(said(ann)), "policy", 0},
		{"AF-27 the verdict: channels, nobody listed, public", list(ReplyChannels), said(ann), "policy", chat.Refused},
		{"AF-27 the verdict: channels, nobody listed, private", list(ReplyChannels), direct(said(ann)), "policy", chat.Refused},
		{"AF-28 public, unlisted, in a guild", list(ReplyPublic), said(ann), "policy", 0},
		{"AF-29 public, unlisted, in private", list(ReplyPublic), direct(said(ann)), "policy", chat.Refused},
		{"BUG-J07 the public policy does not leak into private talk", list(ReplyPublic, "discord/account/"+bob), direct(said(ann)), "policy", chat.Refused},
		{"BUG-J07 nor does a listed guild channel", list(ReplyPublic, "discord/channel/90000000000000001"), direct(said(ann)), "policy", chat.Refused},
		{"public, listed, in private", list(ReplyPublic, annEntry), direct(said(ann)), "policy", 0},
		{"public, place of unknown kind", list(ReplyPublic), with(said(ann), func(e *chat.Event) { e.Place.Kind = "" }), "policy", chat.Refused},
		{"AF-30 channels, account entry, any guild channel", list(ReplyChannels, annEntry), said(ann), "policy", 0},
		{"channels, channel entry, anybody there", list(ReplyChannels, "discord/channel/90000000000000001"), said(bob), "policy", 0},
		{"AF-31 same id on another platform", list(ReplyChannels, annEntry), misskey(said(ann)), "policy", chat.Refused},
		{"same channel id on another platform", list(ReplyChannels, "discord/channel/90000000000000001"), misskey(said(ann)), "policy", chat.Refused},
		{"an entry that is off", off, said(ann), "policy", chat.Refused},
		{"BUG-J06 a name that reads like a listed id", list(ReplyChannels, annEntry), with(said(bob), func(e *chat.Event) { e.From.Name = ann }), "policy", chat.Refused},
		{"BUG-J06 a blank entry hears nobody", list(ReplyChannels, ""), said(ann), "policy", chat.Refused},
		{"everybody", list(ReplyChannels, "*"), direct(said(ann)), "policy", 0},
		{"an unknown policy denies, even a listed person", list("friends", annEntry), said(ann), "policy", chat.Refused},
		{"a policy that is not set denies", list("", annEntry), said(ann), "policy", chat.Refused},
		{"the owner passes the policy", list(ReplyChannels), ownWeb, "owner", 0},
		{"the owner's id on another platform does not", list(ReplyChannels), said("owner"), "policy", chat.Refused},
		{"an owner without an id is nobody", list(ReplyChannels), said(""), "policy", chat.Refused},
		{"a Misskey note", list(ReplyChannels, "misskey/channel/note:9abc"), with(misskey(said("9x")), func(e *chat.Event) { e.Place.ID = "note:9abc" }), "policy", 0},
		{"a Misskey chat", list(ReplyChannels, "misskey/channel/chat:9x"), with(misskey(said("9x")), func(e *chat.Event) { e.Place.ID = "chat:9x" }), "policy", 0},
		{"a web session", list(ReplyChannels, "web/channel/s-1"), with(said("u"), func(e *chat.Event) { e.Place.Platform, e.Place.ID = "web", "s-1" }), "policy", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v := New(c.config, theOwner, nil).Early(c.event)
			if v.Rule != c.rule || v.Outcome != c.outcome || v.Decided != (c.outcome != 0) {
				t.Fatalf("got %+v, want rule %q, outcome %d", v, c.rule, c.outcome)
			}
			if v.Why == "" {
				t.Fatal("the verdict does not say why")
			}
		})
	}
}

func TestTrust(t *testing.T) {
	g := New(list(ReplyAll, "discord/account/"+ann, "discord/channel/90000000000000001", "*"), theOwner, nil)
	own := with(said("owner"), func(e *chat.Event) { e.From.Platform = "web" })
	cases := []struct {
		name  string
		event chat.Event
		want  chat.Trust
	}{
		{"owner", own, chat.Owner},
		{"listed", said(ann), chat.Known},
		{"only the channel and * match", said(bob), chat.Public},
		{"listed id on another platform", misskey(said(ann)), chat.Public},
		{"a mail laid before the owner", with(own, func(e *chat.Event) { e.Body = chat.Noticed{Surface: "mail"} }), chat.Foreign},
	}
	for _, c := range cases {
		if got := g.Trust(c.event); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestYoloFollowsTheFirstMatchingEntry(t *testing.T) {
	c := Defaults()
	c.Channels = []Entry{
		{ID: "discord/account/" + ann},
		{ID: "discord/channel/90000000000000001", Yolo: true},
	}
	g := New(c, nil, nil)
	for _, want := range []struct {
		event chat.Event
		yolo  bool
		from  string
	}{
		{said(ann), false, "account_config"},
		{said(bob), true, "channel_config"},
		{direct(said(bob)), false, "none"},
	} {
		if yolo, from := g.Yolo(want.event); yolo != want.yolo || from != want.from {
			t.Errorf("%s: got %v, %s; want %v, %s", want.event.From.ID, yolo, from, want.yolo, want.from)
		}
	}
}
