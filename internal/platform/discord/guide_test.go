package discord

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/discord/discordtest"
)

func TestEmojis(t *testing.T) {
	r := world(t, false)
	boosters := discordtest.Role{ID: "410000000000000901", Name: "boosters", Permissions: "0", Tags: map[string]json.RawMessage{"premium_subscriber": json.RawMessage("null")}}
	program := discordtest.Role{ID: "410000000000000902", Name: "program", Permissions: "0", Managed: true}
	friends := discordtest.Role{ID: "410000000000000903", Name: "friends", Permissions: "0"}
	other := r.net.AddGuild("Another", []discordtest.Role{boosters, program, friends},
		discordtest.Emoji{Name: "open", Available: true},
		discordtest.Emoji{Name: "moving", Available: true, Animated: true},
		discordtest.Emoji{Name: "gone"},
		discordtest.Emoji{Name: "managed", Available: true, Managed: true},
		discordtest.Emoji{Name: "premium", Available: true, Roles: []string{boosters.ID, program.ID}},
		discordtest.Emoji{Name: "friendly", Available: true, Roles: []string{boosters.ID, friends.ID}})
	own := r.net.AddGuild("Own", nil, discordtest.Emoji{Name: "tea", Available: true})
	r.net.AddEmojis(discordtest.Emoji{Name: "ours", Available: true}, discordtest.Emoji{ID: own.Emojis[0].ID, Name: "tea", Available: true})
	r.open(nil)
	r.run(t)
	r.until(t, "all servers are known", func() bool {
		n := 0
		r.known.learn(func() { n = len(r.known.guilds) })
		return n == 3
	})
	found, err := r.Emojis(limited(t), place(r.talk.ID, own.ID))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range found {
		name, _, _ := strings.Cut(e.Reaction, ":")
		names = append(names, name)
	}
	if want := []string{"tea", "open", "moving", "friendly", "ours"}; !slices.Equal(names, want) {
		t.Errorf("emojis %q, want %q", names, want)
	}
	if e := found[2]; e.Text != "<a:moving:"+other.Emojis[1].ID+">" || e.Reaction != "moving:"+other.Emojis[1].ID {
		t.Errorf("a moving one is %+v", e)
	}
	if e := found[0]; e.Text != "<:tea:"+own.Emojis[0].ID+">" {
		t.Errorf("another is %+v", e)
	}
	asked := len(r.net.Tally().Requests)
	if _, err := r.Emojis(limited(t), r.here()); err != nil || len(r.net.Tally().Requests) != asked {
		t.Errorf("asked again: %v", err)
	}
}

// Only a person who cannot be spoken to at all is given up for good.
func TestDirect(t *testing.T) {
	r := offline(t)
	shy := r.net.AddUser("shy", "")
	r.net.Change(shy.ID, (*discordtest.User).Silent)
	for name, id := range map[string]string{"takes none": shy.ID, "is nobody": "410000000000009999", "is no id": "ann"} {
		if _, err := r.Direct(limited(t), chat.Person{Platform: Name, ID: id}); !errors.Is(err, platform.ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ann := chat.Person{Platform: Name, ID: r.ann.ID}
	for _, a := range []discordtest.Answer{{Status: 503}, {Status: 429, Header: map[string]string{"Retry-After": "0"}}, {Abort: true}, {Status: 403, Body: `{"code":40001,"message":"Unauthorized"}`}} {
		a.Match = "POST /users/@me/channels"
		r.net.Fail(a)
		if _, err := r.Direct(limited(t), ann); err == nil || errors.Is(err, platform.ErrUnreachable) {
			t.Errorf("%+v is no reason to give up: %v", a, err)
		}
	}
	first, err := r.Direct(limited(t), ann)
	if err != nil {
		t.Fatal(err)
	}
	asked := len(r.net.Tally().Requests)
	if again, err := r.Direct(limited(t), ann); err != nil || again != first || len(r.net.Tally().Requests) != asked {
		t.Errorf("again: %+v, %v", again, err)
	}
}

func TestHistory(t *testing.T) {
	r := connect(t, nil)
	r.net.Say(r.talk, r.ann, "the tea is GREEN")
	r.net.Post(r.talk, r.ann, discordtest.Post{Type: 7}) // somebody joined
	ours := r.do(t, chat.Say{Place: r.here(), Text: "green it is " + r.mention(), Key: "k"})
	ask := r.net.Say(r.talk, r.ann, r.mention()+" black?")
	r.do(t, chat.React{Place: r.here(), Message: chat.MessageID(ask.ID), Emoji: "👍"})
	said, err := r.Before(limited(t), r.here(), "", 1000)
	if err != nil || len(said) != 3 {
		t.Fatalf("%+v, %v", said, err)
	}
	if m := said[0]; m.Text != "the tea is GREEN" || m.Addressed || m.Reacted || m.From.Us {
		t.Errorf("%+v", m)
	}
	if m := said[1]; m.ID != ours.Message || !m.From.Us || m.Text != "green it is "+r.mention() { // our own words, to be found again
		t.Errorf("%+v", m)
	}
	if m := said[2]; m.Text != "black?" || !m.Addressed || !m.Reacted {
		t.Errorf("%+v", m)
	}
	for range 4 {
		r.net.Post(r.talk, r.ann, discordtest.Post{Type: 7})
	}
	if few, err := r.Before(limited(t), r.here(), "", 2); err != nil || len(few) != 2 || few[0].ID != ours.Message || few[1].ID != chat.MessageID(ask.ID) {
		t.Errorf("the last two behind what nobody wrote: %+v, %v", few, err)
	}
	for query, want := range map[string]int{"green tea": 2, "  ": 0, "": 0, "BLACK": 1, "coffee": 0} {
		if found, err := r.Search(limited(t), r.here(), query, 5); err != nil || len(found) != want {
			t.Errorf("search for %q: %+v, %v", query, found, err)
		}
	}
	if found, err := r.Search(limited(t), r.here(), "green", 1); err != nil || len(found) != 1 || found[0].ID != said[0].ID {
		t.Errorf("the first of two: %+v, %v", found, err)
	}
	if _, err := r.Before(limited(t), place("410000000000009999", ""), "", 5); err == nil {
		t.Error("a channel that is not there has a history")
	}
}

func TestFetch(t *testing.T) {
	r := offline(t)
	kept := r.net.Upload("tea.png", "image/png", []byte("a picture"))
	read := func(url string) (string, error) {
		body, err := r.Fetch(limited(t), chat.Attachment{URL: url, Size: 3}) // what it claims of its size counts for nothing
		if err != nil {
			return "", err
		}
		defer body.Close() //nolint:errcheck // it is only read
		text, err := io.ReadAll(body)
		return string(text), err
	}
	if got, err := read(kept.URL); err != nil || got != "a picture" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := read(r.net.Upload("big.png", "image/png", make([]byte, maxFile+1)).URL); err == nil {
		t.Error("more than 20 MiB were read")
	}
	strict := New(Config{Token: secretToken, APIURL: apiURL}, quietDeps)
	if _, err := strict.Fetch(limited(t), chat.Attachment{URL: kept.URL}); err == nil {
		t.Error("an address of our own network was fetched")
	}
}
