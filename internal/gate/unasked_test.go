package gate

import (
	"fmt"
	"testing"
)

func TestUnaskedAndLurking(t *testing.T) {
	const person, hall, other = "12345678901234567", "22345678901234567", "32345678901234567"
	g := New(Config{ReplyPolicy: ReplyChannels, Channels: []Entry{
		{ID: "discord/account/" + person, SpontaneousPost: true, ChannelLurk: true},
		{ID: "discord/channel/" + hall, SpontaneousPost: true, ChannelLurk: true},
		{ID: "discord/channel/" + other},
		{ID: "discord/channel/" + other, SpontaneousPost: true, ChannelLurk: true, Disabled: true},
		{ID: "misskey/timeline/self", SpontaneousPost: true},
		{ID: "*", SpontaneousPost: true, ChannelLurk: true},
	}}, nil, nil)
	people, places := g.Unasked("discord")
	if got := fmt.Sprint(people, places, g.Lurking("discord")); got != "[{discord 12345678901234567  false false}] [{discord 22345678901234567 group }] [{discord 22345678901234567 group }]" {
		t.Error(got)
	}
	people, places = g.Unasked("misskey")
	if got := fmt.Sprint(people, places, g.Lurking("misskey")); got != "[] [{misskey timeline:self self }] []" {
		t.Error(got)
	}
	g.Reload(Config{ReplyPolicy: ReplyChannels}, nil)
	if people, places := g.Unasked("discord"); len(people)+len(places)+len(g.Lurking("discord")) != 0 {
		t.Error("what the new rules do not say is still there")
	}
}
