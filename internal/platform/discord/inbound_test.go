package discord

import (
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/gate"
	"familiar/internal/platform/discord/discordtest"
)

// everybody is a gate that lets in all whom the platform says anything good of.
func everybody() *gate.Gate { return gate.New(gate.Config{ReplyPolicy: gate.ReplyAll}, nil, nil) }

func TestWhoIsHeard(t *testing.T) {
	const quiet = "(nothing)" // may be heard
	cases := []struct {
		name   string
		change func(*Config)
		say    func(r *rig) discordtest.Message
		words  string
	}{
		{"a mention", nil, func(r *rig) discordtest.Message { return r.net.Say(r.talk, r.ann, r.mention()+" hi") }, "hi"},
		{"AF-46 BUG-B03 both forms, before and behind", nil, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.ann, "<@!"+r.net.Bot().ID+"> hi "+r.mention())
		}, "hi"},
		{"BUG-B03 two mentions glued to a command", nil, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.ann, r.mention()+"<@!"+r.net.Bot().ID+">/status")
		}, "/status"},
		{"BUG-B04 the name in letters is no mention", nil, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.ann, "@Familiar @familiar hi")
		}, quiet},
		{"the mention of somebody else stays", nil, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.ann, r.mention()+" ask <@"+r.ann.ID+">")
		}, "ask <@410000000000000002>"},
		{"no mention", nil, func(r *rig) discordtest.Message { return r.net.Say(r.talk, r.ann, "hi") }, quiet},
		{"everybody is not us", nil, func(r *rig) discordtest.Message {
			return r.net.Post(r.talk, r.ann, discordtest.Post{Text: "@everyone hi", Everyone: true})
		}, quiet},
		{"mentions that are off", func(c *Config) { c.RespondToMention = false }, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.ann, r.mention()+" hi")
		}, quiet},
		{"AF-47 a prefix", func(c *Config) { c.CommandPrefix = "!" }, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.ann, "!hello")
		}, "!hello"},
		{"a prefix within", func(c *Config) { c.CommandPrefix = "!" }, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.ann, "oh! hello")
		}, quiet},
		{"AF-44 BUG-B16 a program", nil, func(r *rig) discordtest.Message {
			r.net.Change(r.ann.ID, func(u *discordtest.User) { u.Bot = true })
			return r.net.Say(r.talk, r.ann, r.mention()+" hi")
		}, quiet},
		{"AF-44 a webhook", nil, func(r *rig) discordtest.Message {
			return r.net.Post(r.talk, r.ann, discordtest.Post{Text: r.mention() + " hi", Webhook: "1"})
		}, quiet},
		{"AF-44 BUG-C19 we ourselves", nil, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.net.Bot(), r.mention()+" hi")
		}, quiet},
		{"AF-44 we ourselves, alone with somebody", nil, func(r *rig) discordtest.Message {
			return r.net.Say(r.net.Direct(r.ann), r.net.Bot(), "hi")
		}, quiet},
		{"alone", nil, func(r *rig) discordtest.Message { return r.net.Say(r.net.Direct(r.ann), r.ann, "hi") }, "hi"},
		{"AF-45 alone, where that is off", func(c *Config) { c.AllowDM = false }, func(r *rig) discordtest.Message {
			return r.net.Say(r.net.Direct(r.ann), r.ann, "hi")
		}, quiet},
		{"AF-48 another server", func(c *Config) { c.GuildIDs = []string{"410000000000000099"} }, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.ann, r.mention()+" hi")
		}, quiet},
		{"AF-48 alone, whatever servers are served", func(c *Config) { c.GuildIDs = []string{"410000000000000099"} }, func(r *rig) discordtest.Message {
			return r.net.Say(r.net.Direct(r.ann), r.ann, "hi")
		}, "hi"},
		{"the right server", func(c *Config) { c.GuildIDs = []string{"410000000000000001"} }, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.ann, r.mention()+" hi")
		}, "hi"},
		{"a reply that pings us", nil, func(r *rig) discordtest.Message {
			ours := r.net.Say(r.talk, r.net.Bot(), "ours")
			return r.net.Post(r.talk, r.ann, discordtest.Post{Text: "and now?", ReplyTo: ours.ID, Pings: true})
		}, "and now?"},
		{"a reply that does not", nil, func(r *rig) discordtest.Message {
			ours := r.net.Say(r.talk, r.net.Bot(), "ours")
			return r.net.Post(r.talk, r.ann, discordtest.Post{Text: "and now?", ReplyTo: ours.ID})
		}, quiet},
		{"BUG-B07 somebody joined", nil, func(r *rig) discordtest.Message {
			return r.net.Post(r.net.Direct(r.ann), r.ann, discordtest.Post{Type: 7})
		}, quiet},
		{"AF-51 a sticker", nil, func(r *rig) discordtest.Message {
			return r.net.Post(r.net.Direct(r.ann), r.ann, discordtest.Post{Text: "look", Stickers: []discordtest.Sticker{
				r.net.AddSticker(r.guild, "wave", "hand"), r.net.AddSticker(r.guild, "nod", "")}})
		}, "look [Sticker: wave (hand)] [Sticker: nod]"},
		{"a sticker alone", nil, func(r *rig) discordtest.Message {
			return r.net.Post(r.net.Direct(r.ann), r.ann, discordtest.Post{Stickers: []discordtest.Sticker{{ID: "410000000000000999", Name: "gone"}}})
		}, "[Sticker: gone]"},
		{"what was forwarded", nil, func(r *rig) discordtest.Message {
			first := r.net.Post(r.talk, r.ann, discordtest.Post{Text: "the kettle boils", Stickers: []discordtest.Sticker{{ID: "410000000000000999", Name: "steam"}}})
			return r.net.Post(r.net.Direct(r.ann), r.ann, discordtest.Post{Forward: &first})
		}, "[Forwarded: the kettle boils [Sticker: steam]]"},
		{"a poll", nil, func(r *rig) discordtest.Message {
			return r.net.Post(r.net.Direct(r.ann), r.ann, discordtest.Post{Text: "well?", Question: "Tea?", Answers: []string{"Green", "Black"}})
		}, "well? [Poll: Tea? | Green | Black]"},
		{"BUG-B06 something that is not read", nil, func(r *rig) discordtest.Message {
			return r.net.Post(r.net.Direct(r.ann), r.ann, discordtest.Post{})
		}, "[Something that cannot be read here]"},
		{"a mention without a word", nil, func(r *rig) discordtest.Message {
			return r.net.Say(r.talk, r.ann, r.mention())
		}, ""},
		{"a thread", nil, func(r *rig) discordtest.Message {
			return r.net.Say(r.net.AddChannel(r.guild, "a thread", discordtest.Thread), r.ann, r.mention()+" hi")
		}, "hi"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := connect(t, c.change)
			said := c.say(r)
			r.net.Say(r.net.Direct(r.net.AddUser("ben", "")), discordtest.User{ID: said.Author.ID}, "the end") // what comes later shows that this was read
			end := r.net.Say(r.talk, r.ann, "the end")
			g, heard := everybody(), quiet
			r.until(t, "all is read", func() bool {
				for _, ev := range r.events {
					if ev.Message == chat.MessageID(said.ID) && !g.Early(ev).Decided {
						heard = ev.Text()
					}
					if ev.Message == chat.MessageID(end.ID) {
						return true
					}
				}
				return false
			})
			if heard != c.words {
				t.Errorf("heard %q, want %q", heard, c.words)
			}
		})
	}
}

// A message is all that Discord says of it, and no more.
func TestWhatIsTold(t *testing.T) {
	r := connect(t, nil)
	shown := "Ann\u202e of \u200bHouse 🫖"
	r.net.Change(r.ann.ID, func(u *discordtest.User) { u.Nick(shown) })
	first := r.net.Say(r.talk, r.ann, r.mention()+" first")
	picture := r.net.Upload("tea.png", "image/png", []byte("\x89PNG\r\n\x1a\n"))
	picture.Width, picture.Height = 20, 10
	r.net.Post(r.talk, r.ann, discordtest.Post{Text: r.mention() + " BUG-B07 a photo", ReplyTo: first.ID,
		Attachments: []discordtest.Attachment{picture, {URL: "https://cdn.example/x", Size: -1}}})
	ev := r.heard(t, "BUG-B07 a photo")
	said, ok := ev.Body.(chat.Said)
	if !ok || said.ReplyTo != chat.MessageID(first.ID) || len(said.Attachments) != 2 {
		t.Fatalf("heard %+v", ev.Body)
	}
	if a := said.Attachments[0]; a.Name != "tea.png" || a.MIME != "image/png" || a.Size != 8 || a.Width != 20 || a.Height != 10 || a.URL != picture.URL || a.ID == "" {
		t.Errorf("the picture is %+v", a)
	}
	// BUG-N07: neither name nor type.
	if a := said.Attachments[1]; a.Name != "unknown" || a.MIME != "application/octet-stream" || a.Size != 0 {
		t.Errorf("a file without a name is %+v", a)
	}
	if ev.From.Name != shown || ev.From.ID != r.ann.ID || ev.From.Bot || ev.From.Us {
		t.Errorf("from %+v", ev.From)
	}
	if ev.Place != (chat.Place{Platform: "discord", ID: r.talk.ID, Kind: chat.Group, Guild: r.guild.ID}) || !ev.Addressed {
		t.Errorf("in %+v, addressed %v", ev.Place, ev.Addressed)
	}
	shot := r.net.Post(r.talk, r.ann, discordtest.Post{Text: "a cup", Attachments: []discordtest.Attachment{picture}})
	r.net.Post(r.net.Direct(r.ann), r.ann, discordtest.Post{Forward: &shot})
	if sent, ok := r.heard(t, "[Forwarded: a cup]").Body.(chat.Said); !ok || len(sent.Attachments) != 1 || sent.Attachments[0].URL != picture.URL || sent.ReplyTo != "" {
		t.Errorf("with what was forwarded came %+v", sent)
	}
	ben := r.net.AddUser("ben", "")
	r.net.Say(r.net.Direct(ben), ben, "alone")
	if ev := r.heard(t, "alone"); ev.From.Name != "ben" || !ev.Place.Private() || ev.Place.Guild != "" {
		t.Errorf("alone: %+v in %+v", ev.From, ev.Place)
	}
	if us := r.Self(); us.ID != r.net.Bot().ID || us.Name != "Familiar" || !us.Us || !us.Bot {
		t.Errorf("we are %+v", us)
	}
}

func TestEditsAndDeletions(t *testing.T) {
	r := connect(t, nil)
	m := r.net.Say(r.talk, r.ann, r.mention()+" one")
	said := r.heard(t, "one")
	r.net.Unfurl(r.talk, m.ID) // edits nothing
	r.net.Edit(r.talk, m.ID, r.mention()+" two")
	edit := r.heard(t, "two")
	if body, ok := edit.Body.(chat.Edited); !ok || body.Of != chat.MessageID(m.ID) || edit.ID == said.ID || !edit.At.After(said.At) || !edit.From.Same(said.From) {
		t.Errorf("the edit is %+v of %+v", edit.Body, edit)
	}
	r.net.Edit(r.talk, m.ID, r.mention()+" three")
	if again := r.heard(t, "three"); again.ID == edit.ID {
		t.Error("two edits have one id")
	}
	other := r.net.Say(r.talk, r.ann, r.mention()+" other")
	r.heard(t, "other")
	quiet := r.net.Say(r.talk, r.ann, "not for us")
	r.net.Delete(r.talk, m.ID)
	r.net.Delete(r.talk, other.ID, quiet.ID)
	var gone []chat.Event
	r.until(t, "both are gone", func() bool {
		gone = nil
		for _, ev := range r.events {
			if ev.Body.Kind() == chat.KindRecalled {
				gone = append(gone, ev)
			}
		}
		return len(gone) == 2
	})
	for i, of := range []string{m.ID, other.ID} {
		if gone[i].Concerns() != chat.MessageID(of) || !gone[i].From.Same(said.From) || !gone[i].Place.Same(said.Place) {
			t.Errorf("recalled %+v", gone[i])
		}
	}
	for _, ev := range r.events {
		if ev.Text() == "one" && ev.Body.Kind() == chat.KindEdited {
			t.Error("a preview counted as an edit")
		}
	}
}

// What Discord repeats is the same event, and what comes late keeps its own time.
func TestRepeatsAndDisorder(t *testing.T) {
	r := connect(t, nil)
	m := r.net.Say(r.talk, r.ann, r.mention()+" once")
	first := r.heard(t, "once")
	r.net.Repeat(r.talk, m.ID)
	r.net.Say(r.talk, r.ann, r.mention()+" end")
	r.heard(t, "end")
	n := 0
	for _, ev := range r.events {
		if ev.Text() == "once" {
			n++
			if ev.ID != first.ID || !ev.At.Equal(first.At) {
				t.Errorf("the repeat is %+v, was %+v", ev, first)
			}
		}
	}
	if n != 2 {
		t.Errorf("%d of two were handed in", n)
	}
}

// BUG-B18: nulls, other shapes and what nobody knows end nothing.
func TestForeignShapes(t *testing.T) {
	r := connect(t, nil)
	for kind, data := range map[string][]string{
		"MESSAGE_CREATE": {`null`, `[]`, `"x"`, `{}`, `{"id":null,"author":null,"mentions":null,"content":null}`,
			`{"id":"1","channel_id":"2","type":0,"author":{"id":"3"},"timestamp":"yesterday"}`,
			`{"id":"1","channel_id":"2","type":0,"author":{"id":"3"},"mentions":{},"attachments":7}`,
			`{"id":"410000000000001000","channel_id":"2","type":0,"author":{"id":"3","global_name":null,"username":"x"},"member":null,` +
				`"content":"unhurt","mentions":null,"attachments":null,"sticker_items":null,"message_reference":null,"reactions":null,"components":[{"type":999}]}`},
		"MESSAGE_DELETE":      {`null`, `{}`, `{"ids":7}`},
		"GUILD_CREATE":        {`null`, `{"id":7}`, `{"id":"1","emojis":null,"roles":[{"id":"1","tags":null}]}`},
		"GUILD_EMOJIS_UPDATE": {`null`, `[]`},
		"SOMETHING_NEW":       {`null`, `{"a":1}`},
	} {
		for _, d := range data {
			r.net.Raw(kind, d)
		}
	}
	r.heard(t, "unhurt")
	r.net.Say(r.talk, r.ann, r.mention()+" still here")
	r.heard(t, "still here")
	if n := r.net.Tally().Identified; n != 1 {
		t.Errorf("identified %d times", n)
	}
}

// FuzzMessage holds that whatever Discord sends becomes an event or nothing.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"id":"410000000000001000","channel_id":"410000000000000003","type":0,"author":{"id":"410000000000000002"},"content":"<@400000000000000042> hi"}`))
	f.Add([]byte(`{"id":"1","channel_id":"2","type":19,"author":{"id":"3"},"mentions":[{"id":"400000000000000042"}],"sticker_items":[{"name":"a"}],"attachments":[{}],"edited_timestamp":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"id":"1","channel_id":"2","guild_id":"4","type":0,"author":{"id":"400000000000000042"},"webhook_id":"9","content":"\u0000\ud800"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := New(Config{Token: secretToken, AllowDM: true, RespondToMention: true, APIURL: apiURL}, quietDeps)
		var heard []chat.Event
		g := &gateway{Discord: d, up: func() {}}
		g.hear = collect(&heard)
		ctx := t.Context()
		for _, kind := range []string{"MESSAGE_CREATE", "MESSAGE_UPDATE"} {
			if strings.Contains(string(data), "sticker_items") {
				continue // their tags are looked up on the network
			}
			g.dispatch(ctx, frame{Type: kind, Data: data})
		}
		for _, ev := range heard {
			if ev.ID == "" || ev.Place.ID == "" || ev.From.ID == "" || ev.Message == "" || ev.Body == nil {
				t.Errorf("%+v", ev)
			}
			if strings.Contains(ev.Text(), "<@400000000000000042>") && !ev.From.Us {
				t.Errorf("our mention stayed in %q", ev.Text())
			}
		}
	})
}
