package misskey

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/misskeytest"
)

// AF-54: the reply is seen by whoever sees the note, answers it, and takes nothing else over.
func TestAReplyInheritsTheReaders(t *testing.T) {
	r := connected(t)
	for _, visibility := range []string{"public", "home", "followers"} {
		ev := r.mention(misskeytest.Draft{Text: "@familiar hello", Visibility: visibility, CW: "a warning", LocalOnly: true})
		receipt := r.do(chat.Say{Place: ev.Place, Text: "hello back", ReplyTo: ev.Message, Key: "k"})
		ours := r.ours()
		n := ours[len(ours)-1]
		if n.ID != string(receipt.Message) || n.Visibility != visibility || n.ReplyID == nil || *n.ReplyID != string(ev.Message) {
			t.Errorf("%s: %+v", visibility, n)
		}
		if n.CW != nil || n.LocalOnly || *n.Text != "hello back" || len(n.Visible) != 0 || receipt.At.IsZero() {
			t.Errorf("%s: %+v", visibility, n)
		}
	}
}

// AF-55, the second half: the reply to a specified note is shown to its author alone, whatever stands in the thread.
func TestADirectReplyIsForOnePerson(t *testing.T) {
	r := connected(t)
	bob := r.User("bob", "Bob", false)
	ev := r.mention(misskeytest.Draft{Text: "psst", Visibility: "specified", Visible: []string{r.Me().ID, bob.ID}})
	public := r.Write(bob, misskeytest.Draft{Text: "shout"})
	for _, to := range []chat.MessageID{ev.Message, "", chat.MessageID(public.ID)} {
		r.do(chat.Say{Place: ev.Place, Text: "secret", ReplyTo: to})
	}
	ours := r.ours()
	for _, n := range ours {
		if n.Visibility != "specified" || !slices.Equal(n.Visible, []string{r.ann.ID}) {
			t.Errorf("%+v", n)
		}
	}
	if len(ours) != 3 || *ours[0].ReplyID != string(ev.Message) || ours[1].ReplyID != nil {
		t.Errorf("%+v", ours)
	}
	// A place that says note: of a note that is direct after all gives the same.
	r.do(chat.Say{Place: chat.Place{Platform: Name, ID: "note:" + string(ev.Message), Kind: chat.Broadcast}, Text: "secret", ReplyTo: ev.Message})
	if n := r.ours()[3]; n.Visibility != "specified" || !slices.Equal(n.Visible, []string{r.ann.ID}) {
		t.Errorf("%+v", n)
	}
}

// Names in our words call nobody but who is answered: a direct note would be sent to the instances of all whom it names.
func TestOurWordsCallNobody(t *testing.T) {
	r := connected(t)
	r.User("bob", "Bob", false)
	for _, d := range []misskeytest.Draft{{Text: "psst", Visibility: "specified"}, {Text: "@familiar hi", Visibility: "followers"}, {Text: "@familiar hi"}} {
		ev := r.mention(d)
		receipt := r.do(chat.Say{Place: ev.Place, Text: "tell @bob and @bob@evil.example", ReplyTo: ev.Message})
		r.do(chat.Edit{Place: ev.Place, Message: receipt.Message, Text: "tell @bob!", ReplyTo: ev.Message})
		ours := r.ours()
		if n := ours[len(ours)-1]; !slices.Equal(n.Mentions, []string{r.ann.ID}) {
			t.Errorf("%s: it calls %q", n.Visibility, n.Mentions)
		}
	}
}

// Where an instance does not say who may see a note, or tells of another one, its answer is seen by no more than its author.
func TestAReplyIsNotSeenByMore(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "@familiar hello", Visibility: "followers"})
	whole := func(id, rest string) misskeytest.Misbehaviour {
		return misskeytest.Misbehaviour{Status: 200, Body: `{"id":"` + id + `","userId":"` + r.ann.ID + `"` + rest + `}`}
	}
	for _, rest := range []string{"", `,"visibility":""`, `,"visibility":"everybody"`} {
		r.Misbehave("notes/show", whole(string(ev.Message), rest))
		r.do(chat.Say{Place: ev.Place, Text: "hello", ReplyTo: ev.Message})
		ours := r.ours()
		if n := ours[len(ours)-1]; n.Visibility != "specified" || !slices.Equal(n.Visible, []string{r.ann.ID}) {
			t.Errorf("%q: %+v", rest, n)
		}
	}
	before := len(r.Notes())
	for _, plan := range []misskeytest.Misbehaviour{whole("another", `,"visibility":"public"`), {Status: 200, Body: "{}"}, {Status: 204}} {
		r.Misbehave("notes/show", plan)
		if _, err := r.Do(t.Context(), chat.Say{Place: ev.Place, Text: "hello", ReplyTo: ev.Message}); !temporary(err) {
			t.Errorf("%s: %v", plan.Body, err)
		}
	}
	old := r.ours()[0]
	r.Misbehave("notes/show", whole("another", `,"visibility":"public"`))
	if _, err := r.Do(t.Context(), chat.Edit{Place: ev.Place, Message: chat.MessageID(old.ID), Text: "x"}); err == nil || len(r.Notes()) != before {
		t.Errorf("an edit: %v", err)
	}
}

// AF-60: a post on our own timeline answers nothing.
func TestAPostOnOurTimeline(t *testing.T) {
	r := connected(t)
	r.do(chat.Say{Place: chat.Place{Platform: Name, ID: "timeline:self", Kind: chat.Self}, Text: "good morning", ReplyTo: "whatever"})
	if n := r.ours()[0]; n.ReplyID != nil || n.Visibility != "public" || *n.Text != "good morning" {
		t.Errorf("%+v", n)
	}
}

// A note without a message to answer is new, and seen by those whose thread it stands for.
func TestANoteThatAnswersNothing(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "@familiar hello", Visibility: "followers"})
	r.do(chat.Say{Place: ev.Place, Text: "one"})
	r.Delete(string(ev.Message))
	r.do(chat.Say{Place: ev.Place, Text: "two"})
	for _, n := range r.ours() {
		if n.ReplyID != nil || n.Visibility != "followers" {
			t.Errorf("%+v", n)
		}
	}
	if _, err := r.Do(t.Context(), chat.Say{Place: ev.Place, Text: "three", ReplyTo: ev.Message}); err == nil || unsettled(err) {
		t.Errorf("an answer to a note that is gone: %v", err)
	}
	if len(r.ours()) != 2 {
		t.Errorf("%d notes", len(r.ours()))
	}
}

// What answers something that is gone answers the note of its place instead; in a direct place it answers nothing.
func TestWhatIsAnsweredIsGone(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "@familiar hi", Visibility: "followers"})
	sent := r.do(chat.Say{Place: ev.Place, Text: "one", ReplyTo: ev.Message})
	r.Delete(string(sent.Message))
	r.do(chat.Say{Place: ev.Place, Text: "two", ReplyTo: sent.Message})
	direct := r.mention(misskeytest.Draft{Text: "psst", Visibility: "specified"})
	r.Delete(string(direct.Message))
	r.do(chat.Say{Place: direct.Place, Text: "three", ReplyTo: direct.Message})
	r.do(chat.SendFile{Place: direct.Place, Files: files(t, "a.txt"), ReplyTo: direct.Message})
	n := r.ours()
	if len(n) != 3 || *n[0].ReplyID != string(ev.Message) || n[0].Visibility != "followers" {
		t.Fatalf("%+v", n)
	}
	for _, n := range n[1:] {
		if n.ReplyID != nil || n.Visibility != "specified" || !slices.Equal(n.Visible, []string{r.ann.ID}) {
			t.Errorf("%+v", n)
		}
	}
}

// What is said in the place of a note that is gone, and answers nothing, is not shown to more than could read the note.
func TestNobodyKnowsHowPublicItWas(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "@familiar hi", Visibility: "home"})
	r.Delete(string(ev.Message))
	r.do(chat.Say{Place: ev.Place, Text: "one"})
	if n := r.ours(); len(n) != 1 || n[0].Visibility != "home" {
		t.Errorf("%+v", n)
	}
}

func TestChatActions(t *testing.T) {
	r := connected(t)
	ev := r.event(r.Chat(r.ann, "hi").ID)
	sent := r.do(chat.Say{Place: ev.Place, Text: "helo", ReplyTo: ev.Message})
	edited := r.do(chat.Edit{Place: ev.Place, Message: sent.Message, Text: "hello"})
	if got := r.said(); !slices.Equal(got, []string{"hello"}) || edited.Message == sent.Message {
		t.Errorf("%q", got)
	}
	r.do(chat.React{Place: ev.Place, Message: ev.Message, Emoji: ":blobcat:"})
	if c := r.Chats()[0]; len(c.Reactions) != 1 || c.Reactions[0].Reaction != ":blobcat:" {
		t.Errorf("%+v", c)
	}
	r.do(chat.Delete{Place: ev.Place, Message: edited.Message})
	if got := r.said(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestReactionsToNotes(t *testing.T) {
	r := connected(t)
	ev := r.mention(misskeytest.Draft{Text: "@familiar hello"})
	for _, c := range [][2]string{{"👍", "👍"}, {":blobcat:", ":blobcat:"}, {"ok_hand2", ":ok_hand2:"}, {"ok_hand2", ":ok_hand2:"}} {
		r.do(chat.React{Place: ev.Place, Message: ev.Message, Emoji: c[0]})
		if n := r.Notes()[0]; n.MyReaction == nil || *n.MyReaction != c[1] {
			t.Errorf("%q: %+v", c[0], n.MyReaction)
		}
	}
}

// The limits are those of the instance, counted as it counts.
func TestLimits(t *testing.T) {
	r := connected(t)
	note, talk := r.mention(misskeytest.Draft{Text: "@familiar hello"}), r.event(r.Chat(r.ann, "hello").ID)
	for _, c := range []struct {
		ev   chat.Event
		most int
	}{{note, MaxNote}, {talk, MaxChat}} {
		can := r.Abilities().In(c.ev.Place)
		if can.MaxText != c.most || can.Unit != chat.Runes {
			t.Errorf("%s: %+v", c.ev.Place.ID, can)
		}
		r.do(chat.Say{Place: c.ev.Place, Text: strings.Repeat("𝕏", can.MaxText), ReplyTo: c.ev.Message})
	}
}

// An instance that takes shorter notes says so; what it says of longer ones, or does not say, changes nothing.
func TestTheInstancesOwnLimit(t *testing.T) {
	for _, c := range []struct{ says, most int }{{500, 500}, {10_000, MaxNote}, {0, MaxNote}, {-1, MaxNote}} {
		r := newRig(t)
		r.Shorten(c.says)
		r.start()
		if can := r.Abilities(); can.MaxText != c.most {
			t.Errorf("it says %d, and a note has %d", c.says, can.MaxText)
		}
		if can := r.Abilities().In(directPlace(chatPlace, r.ann.ID)); can.MaxText != MaxChat {
			t.Errorf("a chat message has %d", can.MaxText)
		}
	}
	r := newRig(t)
	r.Misbehave("meta", misskeytest.Misbehaviour{Status: 502, Body: badGateway})
	r.start()
	if can := r.Abilities(); can.MaxText != MaxNote {
		t.Errorf("a note has %d", can.MaxText)
	}
}

// After a time-out nobody knows; the look-up finds our words behind what they answer, or not.
func TestAfterATimeOutOurWordsAreFound(t *testing.T) {
	r := connected(t)
	talk := r.event(r.Chat(r.ann, "hi").ID)
	for _, ev := range []chat.Event{talk, r.mention(misskeytest.Draft{Text: "psst", Visibility: "specified"}), r.mention(misskeytest.Draft{Text: "@familiar hi"})} {
		path := "notes/create"
		if ev.Place.Same(talk.Place) {
			path = "chat/messages/create-to-user"
		}
		for _, done := range []bool{false, true} {
			r.Misbehave(path, misskeytest.Misbehaviour{Hang: true, Done: done})
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			_, err := r.Do(ctx, chat.Say{Place: ev.Place, Text: "once only", ReplyTo: ev.Message})
			cancel()
			if !unsettled(err) {
				t.Fatalf("%s: %v", ev.Place.ID, err)
			}
			said, err := r.Before(t.Context(), ev.Place, "", 50)
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(said, func(m chat.Message) bool { return m.From.Us && m.Text == "once only" })
			if found != done {
				t.Errorf("%s: found is %v, done %v: %+v", ev.Place.ID, found, done, said)
			}
		}
	}
}

func TestWhatMisskeyCannot(t *testing.T) {
	r := connected(t)
	place := chat.Place{Platform: Name, ID: "note:a1", Kind: chat.Broadcast}
	for _, a := range []chat.Action{chat.Typing{Place: place}, chat.Ask{Place: place}, chat.Show{Place: place}} {
		if _, err := r.Do(t.Context(), a); !errors.Is(err, platform.ErrUnsupported) {
			t.Errorf("%T: %v", a, err)
		}
	}
	if _, err := r.Do(t.Context(), chat.Say{Place: chat.Place{Platform: Name, ID: "room:1"}, Text: "x"}); err == nil {
		t.Error("it spoke in a place that is none")
	}
}
