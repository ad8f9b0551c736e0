package misskey

import (
	"slices"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey/misskeytest"
)

// AF-56: the old note is deleted, the new one has its readers and answers what it answered; its id is told.
func TestAnEditIsANewNote(t *testing.T) {
	for _, c := range []struct{ visibility, text string }{{"home", "@familiar hi"}, {"followers", "@familiar hi"}, {"specified", "psst"}} {
		r := connected(t)
		ev := r.mention(misskeytest.Draft{Text: c.text, Visibility: c.visibility})
		old := r.do(chat.Say{Place: ev.Place, Text: "helo", ReplyTo: ev.Message})
		edited := r.do(chat.Edit{Place: ev.Place, Message: old.Message, Text: "hello", ReplyTo: ev.Message})
		ours := r.ours()
		if len(ours) != 1 || edited.Message == old.Message || ours[0].ID != string(edited.Message) || *ours[0].Text != "hello" {
			t.Fatalf("%s: %+v", c.visibility, ours)
		}
		if ours[0].Visibility != c.visibility || *ours[0].ReplyID != string(ev.Message) || (c.visibility == "specified") != slices.Equal(ours[0].Visible, []string{r.ann.ID}) {
			t.Errorf("%s: %+v", c.visibility, ours[0])
		}
		// Without a word of what it answered, the old note tells.
		again := r.do(chat.Edit{Place: ev.Place, Message: edited.Message, Text: "hello!"})
		if n := r.ours()[0]; n.ID != string(again.Message) || *n.ReplyID != string(ev.Message) || n.Visibility != c.visibility {
			t.Errorf("%s: %+v", c.visibility, n)
		}
	}
}

// AF-57: when the old one cannot be deleted, nothing is posted and the edit fails.
func TestAnEditThatCannotDelete(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "@familiar hi"})
	talk := r.event(r.Chat(r.ann, "hi").ID)
	for _, c := range []struct {
		place chat.Place
		to    chat.MessageID
		path  string
	}{{ev.Place, ev.Message, "notes/delete"}, {talk.Place, talk.Message, "chat/messages/delete"}} {
		old := r.do(chat.Say{Place: c.place, Text: "old", ReplyTo: c.to})
		notes, chats := len(r.Notes()), len(r.Chats())
		for _, plan := range []misskeytest.Misbehaviour{misskeytest.Refusal(400, "ACCESS_DENIED"), {Status: 502, Body: "<html>"}, {Break: true}, {Status: 500}} {
			r.Misbehave(c.path, plan)
			if _, err := r.Do(t.Context(), chat.Edit{Place: c.place, Message: old.Message, Text: "new", ReplyTo: c.to}); err == nil || unsettled(err) {
				t.Errorf("%s: %v", c.path, err)
			}
		}
		if len(r.Notes()) != notes || len(r.Chats()) != chats {
			t.Errorf("%s: %d notes, %d chat messages; there were %d and %d", c.path, len(r.Notes()), len(r.Chats()), notes, chats)
		}
	}
}

// An edit whose new note is refused for now goes on from there, and deletes nothing twice.
func TestAnEditGoesOnWhereItWas(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "psst", Visibility: "specified"})
	old := r.do(chat.Say{Place: ev.Place, Text: "old", ReplyTo: ev.Message})
	r.Misbehave("notes/create", misskeytest.Refusal(429, "RATE_LIMIT_EXCEEDED"))
	edit := chat.Edit{Place: ev.Place, Message: old.Message, Text: "new", ReplyTo: ev.Message}
	if _, err := r.Do(t.Context(), edit); !temporary(err) {
		t.Fatalf("got %v", err)
	}
	r.do(edit)
	if n := r.ours(); len(n) != 1 || *n[0].Text != "new" || n[0].Visibility != "specified" || *n[0].ReplyID != string(ev.Message) {
		t.Errorf("%+v", n)
	}
	if n := r.Calls("notes/delete"); n != 1 {
		t.Errorf("%d deletions", n)
	}
}

// An edit whose new note may be there is not written a second time.
func TestAnEditOfWhichNobodyKnowsIsNotRepeated(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "@familiar hi"})
	old := r.do(chat.Say{Place: ev.Place, Text: "old", ReplyTo: ev.Message})
	r.Misbehave("notes/create", misskeytest.Misbehaviour{Break: true, Done: true})
	edit := chat.Edit{Place: ev.Place, Message: old.Message, Text: "new", ReplyTo: ev.Message}
	if _, err := r.Do(t.Context(), edit); !unsettled(err) {
		t.Fatalf("got %v", err)
	}
	if _, err := r.Do(t.Context(), edit); err == nil || unsettled(err) || len(r.ours()) != 1 {
		t.Errorf("%v, %d notes", err, len(r.ours()))
	}
}

// When it is not known whether the old one is deleted, the edit goes on from whatever became of it.
func TestAnEditWhoseDeletionIsNotKnown(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "@familiar hi", Visibility: "followers"})
	talk := r.event(r.Chat(r.ann, "hi").ID)
	for _, done := range []bool{false, true} {
		for _, c := range []struct {
			of   chat.Event
			path string
		}{{ev, "notes/delete"}, {talk, "chat/messages/delete"}} {
			old := r.do(chat.Say{Place: c.of.Place, Text: "old", ReplyTo: c.of.Message})
			r.Misbehave(c.path, misskeytest.Misbehaviour{Break: true, Done: done})
			edit := chat.Edit{Place: c.of.Place, Message: old.Message, Text: "new", ReplyTo: c.of.Message}
			if _, err := r.Do(t.Context(), edit); !temporary(err) {
				t.Fatalf("got %v", err)
			}
			r.do(edit)
		}
	}
	if n := r.ours(); len(n) != 2 || *n[0].Text != "new" || n[0].Visibility != "followers" || *n[0].ReplyID != string(ev.Message) {
		t.Errorf("%+v", n)
	}
	want(t, r.said(), "new", "new")
}

// An edit keeps the warning and the files; where what it answers is gone, its own readers too.
func TestAnEditKeepsWhatIsBesidesTheText(t *testing.T) {
	r := connected(t)
	picture := r.Keep("cat.png", []byte("png"))
	ev := r.mention(misskeytest.Draft{Text: "@familiar hi", Visibility: "home"})
	old := r.Write(r.Me(), misskeytest.Draft{Text: "old", Visibility: "home", CW: "careful", Files: []string{picture}, ReplyTo: string(ev.Message)})
	r.Delete(string(ev.Message))
	r.do(chat.Edit{Place: ev.Place, Message: chat.MessageID(old.ID), Text: "new", ReplyTo: ev.Message})
	n := r.ours()
	if len(n) != 1 || *n[0].Text != "new" || n[0].Visibility != "home" || *n[0].CW != "careful" || !slices.Equal(n[0].FileIDs, []string{picture}) || n[0].ReplyID != nil {
		t.Errorf("%+v", n)
	}
}
