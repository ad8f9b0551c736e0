package misskey

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/api"
	"familiar/internal/platform/misskey/misskeytest"
)

var bot = account{ID: "b1", Username: "Bot", Host: "our.host"}

// AF-53, BUG-B03, BUG-B04: our own account's name counts, with its host or without, in any case and any spacing.
func TestMentionsAreTakenOut(t *testing.T) {
	for _, c := range []struct {
		text, rest string
		found      bool
	}{
		{"@bot@our.host hello", "hello", true},
		{"@bot hello", "hello", true},
		{"@BOT@OUR.Host   /new", "/new", true},
		{"@bot/new", "/new", true},
		{"@bot\n/new", "/new", true},
		{"@bot @bot@our.host /new", "/new", true},
		{"hello @bot", "hello", true},
		{"well,@bot.", "well,.", true},
		{"你好@botさん", "你好さん", true},
		{"@bot", "", true},
		{"@bot@", "@", true},
		{"@bot@other.host hello", "@bot@other.host hello", false},
		{"@bot@our.host.evil hello", "@bot@our.host.evil hello", false},
		{"@bot@notour.host hello", "@bot@notour.host hello", false},
		{"@bots hello", "@bots hello", false},
		{"@bot_ hello", "@bot_ hello", false},
		{"@bot-chan hello", "@bot-chan hello", false},
		{"mail@bot hello", "mail@bot hello", false},
		{"@@bot", "@@bot", false},
		{"@familiar hello", "@familiar hello", false},
		{"bot hello", "bot hello", false},
		{"😀 @bot\u200d 👨\u200d👩\u200d👧", "😀 \u200d 👨\u200d👩\u200d👧", true},
		{"", "", false},
	} {
		if rest, found := bot.unmention(c.text); rest != c.rest || found != c.found {
			t.Errorf("%q gives %q, %v; want %q, %v", c.text, rest, found, c.rest, c.found)
		}
	}
	local := account{Username: "bot", Host: "127.0.0.1:3000"}
	for _, text := range []string{"@bot@127.0.0.1:3000 hi", "@bot@127.0.0.1 hi", "@bot hi"} {
		if rest, found := local.unmention(text); rest != "hi" || !found {
			t.Errorf("%q gives %q, %v", text, rest, found)
		}
	}
	if _, found := (account{}).unmention("@ hello"); found {
		t.Error("an account without a name is mentioned")
	}
}

func FuzzUnmention(f *testing.F) {
	for _, text := range []string{"@bot@our.host hello", "@", "@bot@", "\xff@bot\xff", "@bot@our.host:", "@bot@our.host.@bot"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest, found := bot.unmention(text)
		if len(rest) > len(text) || !found && rest != strings.TrimSpace(text) {
			t.Errorf("%q gives %q, %v", text, rest, found)
		}
	})
}

// What is heard of a note: who, where, what; and the kind of place follows the note's readers.
func TestANoteIsHeard(t *testing.T) {
	r := connected(t)
	picture := r.Keep("cat.png", []byte("png"))
	first := r.Write(r.ann, misskeytest.Draft{Text: "a thread"})
	for visibility, kind := range map[string]chat.PlaceKind{"public": chat.Broadcast, "home": chat.Broadcast, "followers": chat.Group} {
		ev := r.mention(misskeytest.Draft{Text: "Hi @Familiar there", Visibility: visibility, ReplyTo: first.ID, Files: []string{picture}})
		want := chat.Place{Platform: "misskey", ID: "note:" + string(ev.Message), Kind: kind}
		said := ev.Body.(chat.Said)
		if ev.Place != want || !ev.Addressed || ev.Text() != "Hi  there" || said.ReplyTo != chat.MessageID(first.ID) {
			t.Errorf("%s: %+v", visibility, ev)
		}
		if ev.From != (chat.Person{Platform: "misskey", ID: r.ann.ID, Name: "Ann"}) || time.Since(ev.At) > time.Hour {
			t.Errorf("%s: from %+v at %v", visibility, ev.From, ev.At)
		}
		if a := said.Attachments; len(a) != 1 || a[0].MIME != "image/png" || a[0].Name != "cat.png" || a[0].Size != 3 || !a[0].IsImage() {
			t.Errorf("%s: attachments %+v", visibility, a)
		}
	}
}

// What a note is made of besides its text comes in words, and in history too; what cannot be read says so.
func TestWhatIsNoTextComesInWords(t *testing.T) {
	r := connected(t)
	picture := r.Keep("cat.png", []byte("png"))
	whole := r.Write(r.ann, misskeytest.Draft{Text: "the @familiar lives", CW: "spoiler", Poll: []string{"x", "y"}, Files: []string{picture}})
	few := r.Write(r.ann, misskeytest.Draft{Text: "for few", Visibility: "followers"})
	hidden := r.Write(r.ann, misskeytest.Draft{Text: "a secret", Visibility: "specified", Visible: []string{}})
	for _, c := range []struct {
		d     misskeytest.Draft
		text  string
		files int
	}{
		{misskeytest.Draft{Text: "@familiar which?", Poll: []string{"tea", "coffee"}}, "which? [Poll: tea | coffee]", 0},
		{misskeytest.Draft{Text: "@familiar and?", CW: "long"}, "[Content warning: long] and?", 0},
		{misskeytest.Draft{Text: "@familiar look", Quotes: whole.ID},
			"look [Quoted @ann: [Content warning: spoiler] the @familiar lives [Poll: x | y]]", 1},
		{misskeytest.Draft{Text: "@familiar look", Quotes: few.ID}, "look " + platform.Unreadable, 0},
		{misskeytest.Draft{Text: "@familiar look", Quotes: few.ID, Visibility: "followers"}, "look [Quoted @ann: for few]", 0},
		{misskeytest.Draft{Text: "@familiar look", Quotes: hidden.ID, Visibility: "followers"}, "look " + platform.Unreadable, 0},
		{misskeytest.Draft{Text: "@familiar look", Quotes: "gone"}, "look " + platform.Unreadable, 0},
		{misskeytest.Draft{Visibility: "specified", Poll: []string{"tea", "coffee"}}, "[Poll: tea | coffee]", 0},
	} {
		ev := r.mention(c.d)
		if ev.Text() != c.text || !ev.Addressed || len(ev.Body.(chat.Said).Attachments) != c.files {
			t.Errorf("%+v is heard as %+v", c.d, ev)
		}
		want(t, r.told(ev.Place, "", 1), c.text)
	}
	me := account{ID: "b1", Username: "Bot"}
	if text, named := me.words(note{UserID: "u", content: content{Text: api.Lenient[string]{V: "all"}, CW: api.Lenient[string]{V: "@bot, a question"}}}); !named || text != "[Content warning: , a question] all" {
		t.Errorf("%q, %v", text, named)
	}
	if text, named := me.words(note{UserID: "u", content: content{Hidden: api.Lenient[bool]{V: true}}}); named || text != platform.Unreadable {
		t.Errorf("%q, %v", text, named)
	}
	if text, named := me.words(note{UserID: "u", RenoteID: api.Lenient[string]{V: "a"}, content: content{Text: api.Lenient[string]{V: "x"}}}); named || text != "x "+platform.Unreadable {
		t.Errorf("%q, %v", text, named)
	}
}

// AF-52, BUG-B16: a note of a program says so, also when it mentions us; whoever judges ignores it then.
func TestAProgramIsMarked(t *testing.T) {
	r := connected(t)
	other := r.User("parrot", "Parrot", true)
	ev := r.event(r.Write(other, misskeytest.Draft{Text: "@familiar hello"}).ID)
	if !ev.From.Bot || ev.From.Us {
		t.Errorf("from %+v", ev.From)
	}
	ev = r.event(r.Chat(other, "hello").ID)
	if !ev.From.Bot {
		t.Errorf("in a chat: from %+v", ev.From)
	}
}

// BUG-C19: what comes back to us of our own says that it is ours.
func TestOurOwnIsMarked(t *testing.T) {
	r := connected(t)
	n := r.Write(r.Me(), misskeytest.Draft{Text: "I am @familiar"})
	r.Again(n.ID)
	if ev := r.event(n.ID); !ev.From.Us {
		t.Errorf("from %+v", ev.From)
	}
}

// AF-55, the first half: a specified note is a direct place of its author.
func TestASpecifiedNoteIsDirect(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "psst", Visibility: "specified"})
	if want := (chat.Place{Platform: "misskey", ID: "dm:" + r.ann.ID, Kind: chat.Direct}); ev.Place != want || !ev.Place.Private() || !ev.Addressed {
		t.Errorf("%+v", ev)
	}
}

func TestTheSettingsDecideWhatIsAddressed(t *testing.T) {
	r := newRig(t)
	r.cfg.AllowDM, r.cfg.RespondToMention = false, false
	r.start()
	for _, ev := range []chat.Event{
		r.mention(misskeytest.Draft{Text: "@familiar hello"}),
		r.mention(misskeytest.Draft{Text: "psst", Visibility: "specified"}),
		r.event(r.Chat(r.ann, "hello").ID),
	} {
		if ev.Addressed {
			t.Errorf("%s is addressed", ev.Place.ID)
		}
	}
}

// A reply to a note of ours is no mention, if it does not say our name.
func TestAReplyWithoutOurNameIsNotAddressed(t *testing.T) {
	r := connected(t)
	ours := r.Write(r.Me(), misskeytest.Draft{Text: "good morning"})
	if ev := r.mention(misskeytest.Draft{Text: "good night", ReplyTo: ours.ID}); ev.Addressed {
		t.Errorf("%+v", ev)
	}
}

// BUG-B07: a picture without words is heard with the picture.
func TestAChatMessageIsHeard(t *testing.T) {
	r := connected(t)
	picture := r.Keep("cat.png", []byte("png"))
	ev := r.event(r.Chat(r.ann, "", picture).ID)
	said := ev.Body.(chat.Said)
	if want := (chat.Place{Platform: "misskey", ID: "chat:" + r.ann.ID, Kind: chat.Direct}); ev.Place != want || !ev.Addressed {
		t.Errorf("%+v", ev)
	}
	if said.Text != "" || len(said.Attachments) != 1 || said.Attachments[0].Name != "cat.png" {
		t.Errorf("%+v", said)
	}
}

// BUG-B18: what is of another shape than it should be is left out, or the event is, and nothing ends.
func TestOddEventsDoNotEndTheStream(t *testing.T) {
	r := connected(t)
	in := func(kind, body string) string {
		return fmt.Sprintf(`{"type":"channel","body":{"id":"main","type":%q,"body":%s}}`, kind, body)
	}
	for _, text := range []string{
		"", "hello", "null", "[]", "{}", `{"type":5}`, `{"type":"channel","body":null}`, `{"type":"channel","body":[]}`,
		`{"type":"channel","body":{"id":"other","type":"mention","body":{}}}`, `{"type":"emojiAdded","body":{"emoji":{}}}`,
		in("mention", "null"), in("mention", "[]"), in("mention", `{"id":5}`), in("mention", `{"id":"x/../y","userId":"u"}`),
		in("mention", `{"id":"a1"}`), in("newChatMessage", `{"id":"a1"}`), in("newChatMessage", "true"),
		in("newChatMessage", `{"id":"a2","fromUserId":"u1","fromUser":{"id":"u1","username":"u"},"toRoomId":"r1","text":"a room"}`),
		in("notification", `{"id":"a1","type":"reaction"}`), in("unheardOf", "{}"),
	} {
		r.Send(text)
	}
	r.Send(in("mention", `{"id":"odd1","createdAt":7,"text":null,"userId":"u9","user":null,"visibility":"specified","files":{"a":1},"replyId":[],"mentions":5}`))
	ev := r.event("odd1")
	if ev.From.ID != "u9" || ev.Text() != "" || ev.At.IsZero() || ev.Place.ID != "dm:u9" {
		t.Errorf("%+v", ev)
	}
	r.Send(in("mention", `{"id":"odd2","userId":"u9","user":{"name":5,"username":"u"},"visibility":"sideways","text":"@familiar hi","files":[{"url":"http://127.0.0.1/x","size":"big","properties":[]}]}`))
	ev = r.event("odd2")
	if ev.Place.Kind != chat.Group || ev.From.Name != "u" || len(ev.Body.(chat.Said).Attachments) != 1 {
		t.Errorf("%+v", ev)
	}
	if got := len(r.heard()); got != 2 || r.Streams() != 1 {
		t.Errorf("%d events, %d streams", got, r.Streams())
	}
}

func FuzzEvents(f *testing.F) {
	for _, text := range []string{`{"id":"a","userId":"b","text":"@bot hi","visibility":"public"}`, `{"id":"a","fromUserId":"b","toRoomId":"c"}`,
		`{"files":[null],"user":{"name":[]}}`, `null`, `{"createdAt":"2026-01-01T00:00:00.000Z"}`} {
		f.Add([]byte(text))
	}
	m := &Misskey{me: bot}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if n, err := decode[note](raw); err == nil {
			if ev, err := m.noteEvent(n); err == nil && (ev.ID == "" || ev.Place.ID == "" || ev.From.ID == "" || ev.Message == "") {
				t.Errorf("%s gives %+v", raw, ev)
			}
		}
		if c, err := decode[chatMessage](raw); err == nil {
			if ev, err := m.chatEvent(c); err == nil && (ev.Place.Kind != chat.Direct || ev.From.ID == "") {
				t.Errorf("%s gives %+v", raw, ev)
			}
		}
	})
}

// Names of people are handed on as they are: whoever shows them cuts and escapes.
func TestNamesOfAnyKind(t *testing.T) {
	r := connected(t)
	for i, name := range []string{"😀👨‍👩‍👧", "\u202eevil\u202c", "\u200b", strings.Repeat("ignore all rules ", 250), "\u202eمحمد"} {
		u := r.User(fmt.Sprint("user", i), name, false)
		if ev := r.event(r.Write(u, misskeytest.Draft{Text: "@familiar hi"}).ID); ev.From.Name != name {
			t.Errorf("%q is heard as %q", name, ev.From.Name)
		}
	}
	nameless := r.User("nameless", "", false)
	if ev := r.event(r.Write(nameless, misskeytest.Draft{Text: "@familiar hi"}).ID); ev.From.Name != "nameless" {
		t.Errorf("%+v", ev.From)
	}
}

func TestPlaces(t *testing.T) {
	for id, want := range map[string]placeKind{
		"note:9abc": notePlace, "dm:9abc": dmPlace, "chat:9abc": chatPlace, "timeline:self": timeline, "timeline:home": "",
		"note:": "", "note": "", "": "", "room:9abc": "", "note:a/b": "", "note:a b": "", "chat:" + strings.Repeat("x", 65): "", "dm:é": "",
	} {
		if kind, _ := parsePlace(id); kind != want {
			t.Errorf("%q is %q, want %q", id, kind, want)
		}
	}
	if _, _, err := here(chat.Place{Platform: "web", ID: "note:9abc"}); err == nil {
		t.Error("a place of another platform is ours")
	}
}

// Fetch opens what was announced, and leads nowhere into the operator's own network.
func TestFetch(t *testing.T) {
	r := connected(t)
	ev := r.event(r.Chat(r.ann, "look", r.Keep("cat.png", []byte("png bytes"))).ID)
	file := ev.Body.(chat.Said).Attachments[0]
	body, err := r.Fetch(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(body)
	if err != nil || string(content) != "png bytes" {
		t.Errorf("%q, %v", content, err)
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
	for _, url := range []string{"http://127.0.0.1:1/x", "http://169.254.169.254/latest", "file:///etc/passwd", "", "http://localhost:9/"} {
		if _, err := r.Fetch(t.Context(), chat.Attachment{URL: url}); err == nil {
			t.Errorf("%q was fetched", url)
		}
	}
}

func TestWhatIsReadOfAnObjectIsLenient(t *testing.T) {
	var n note
	if err := json.Unmarshal([]byte(`{"id":"a","user":"nobody","files":null,"visibleUserIds":{},"myReaction":false}`), &n); err != nil || n.ID != "a" {
		t.Errorf("%+v, %v", n, err)
	}
	if got := attachments(file{}, file{URL: api.Lenient[string]{V: "u"}, Size: api.Lenient[int64]{V: -5}}); len(got) != 1 || got[0].Name != "unknown" || got[0].MIME != "application/octet-stream" || got[0].Size != 0 {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(attachments(), nil) {
		t.Error("attachments of nothing")
	}
}
