package misskey

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/misskey/misskeytest"
)

// told returns the texts of what Before tells.
func (r *rig) told(place chat.Place, before chat.MessageID, limit int) (texts []string) {
	r.t.Helper()
	said, err := r.Before(r.t.Context(), place, before, limit)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, m := range said {
		texts = append(texts, m.Text)
	}
	return texts
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// thread writes five notes, each of which answers the one before, and returns them: Ann, Bob and we take turns.
func (r *rig) thread(texts ...string) (all []misskeytest.Note) {
	bob := r.User("bob", "Bob", false)
	authors := []misskeytest.User{r.ann, bob, r.Me()}
	parent := ""
	for i, text := range texts {
		n := r.Write(authors[i%3], misskeytest.Draft{Text: text, ReplyTo: parent})
		all, parent = append(all, n), n.ID
	}
	return all
}

// A thread is what a note answers, the note, and what answers it, oldest first; before a message, what came before it.
func TestHistoryOfAThread(t *testing.T) {
	r := connected(t)
	n := r.thread("one", "two", "three", "four @familiar", "five")
	r.Write(r.ann, misskeytest.Draft{Text: "elsewhere"})
	place := chat.Place{Platform: Name, ID: "note:" + n[3].ID, Kind: chat.Broadcast}
	want(t, r.told(place, "", 20), "one", "two", "three", "four", "five")
	want(t, r.told(place, chat.MessageID(n[3].ID), 20), "one", "two", "three")
	want(t, r.told(place, chat.MessageID(n[3].ID), 2), "two", "three")
	want(t, r.told(place, chat.MessageID(n[4].ID), 20), "one", "two", "three", "four")
	said, err := r.Before(t.Context(), place, "", 20)
	if err != nil {
		t.Fatal(err)
	}
	if said[0].From.Name != "@Ann ("+r.ann.ID+")" || !said[2].From.Us || said[1].ReplyTo != chat.MessageID(n[0].ID) || !said[3].Addressed || said[4].Addressed {
		t.Errorf("%+v", said)
	}
	r.do(chat.React{Place: place, Message: chat.MessageID(n[1].ID), Emoji: "👍"})
	if said, _ = r.Before(t.Context(), place, "", 20); !said[1].Reacted || said[0].Reacted {
		t.Errorf("%+v", said)
	}
	r.Delete(n[3].ID)
	want(t, r.told(place, "", 20))
}

// AF-59: the replies come from the second endpoint when the first one fails, and are left out when both do; ancestors
// are asked for one by one when they cannot be had at once, as far as they go.
func TestHistoryWithLessThanAll(t *testing.T) {
	r := connected(t)
	n := r.thread("one", "two", "three", "four", "five")
	place := chat.Place{Platform: Name, ID: "note:" + n[3].ID, Kind: chat.Broadcast}
	fails := misskeytest.Misbehaviour{Status: 500, Body: "{}"}
	r.Misbehave("notes/children", fails)
	want(t, r.told(place, "", 20), "one", "two", "three", "four", "five")
	if r.Calls("notes/replies") != 1 {
		t.Error("the second endpoint was not asked")
	}
	r.Misbehave("notes/children", fails)
	r.Misbehave("notes/replies", fails)
	want(t, r.told(place, "", 20), "one", "two", "three", "four")
	r.Misbehave("notes/conversation", fails)
	want(t, r.told(place, chat.MessageID(n[3].ID), 20), "one", "two", "three")
	r.Misbehave("notes/conversation", fails, fails)
	r.Misbehave("notes/show", misskeytest.Misbehaviour{}, misskeytest.Misbehaviour{}, misskeytest.Refusal(400, "NO_SUCH_NOTE"))
	want(t, r.told(place, chat.MessageID(n[3].ID), 20), "three")
	r.Misbehave("notes/show", fails)
	if _, err := r.Before(t.Context(), place, "", 20); err == nil {
		t.Error("the note itself could not be read, and that is no error")
	}
}

// What only some can read is not told in a thread that others read, nor found by a search.
func TestPrivateWordsStayOutOfPublicHistory(t *testing.T) {
	r := connected(t)
	n := r.thread("one", "two")
	r.Write(r.ann, misskeytest.Draft{Text: "a secret", Visibility: "specified", ReplyTo: n[1].ID})
	r.Write(r.Me(), misskeytest.Draft{Text: "our secret", Visibility: "specified", Visible: []string{r.ann.ID}, ReplyTo: n[1].ID})
	r.Write(r.Me(), misskeytest.Draft{Text: "another secret", Visibility: "specified", Visible: []string{r.ann.ID}})
	want(t, r.told(chat.Place{Platform: Name, ID: "note:" + n[1].ID, Kind: chat.Broadcast}, "", 20), "one", "two")
	want(t, r.told(chat.Place{Platform: Name, ID: "timeline:self", Kind: chat.Self}, "", 20))
	found, err := r.Search(t.Context(), chat.Place{Platform: Name, ID: "chat:" + r.ann.ID, Kind: chat.Direct}, "secret", 20)
	if err != nil || len(found) != 0 {
		t.Errorf("found %+v, %v", found, err)
	}
	found, err = r.Search(t.Context(), chat.Place{Platform: Name, ID: "note:" + n[1].ID, Kind: chat.Broadcast}, "TWO", 20)
	if err != nil || len(found) != 1 || found[0].Text != "two" {
		t.Errorf("found %+v, %v", found, err)
	}
}

// What only followers can read is told in a thread that followers read, and in no other.
func TestWordsForFollowersStayAmongThem(t *testing.T) {
	r := connected(t)
	first := r.Write(r.ann, misskeytest.Draft{Text: "for followers", Visibility: "followers"})
	second := r.Write(r.ann, misskeytest.Draft{Text: "for them too", Visibility: "followers", ReplyTo: first.ID})
	open := r.Write(r.ann, misskeytest.Draft{Text: "for all", Visibility: "home", ReplyTo: second.ID})
	r.Write(r.ann, misskeytest.Draft{Text: "and this again not", Visibility: "followers", ReplyTo: open.ID})
	want(t, r.told(chat.Place{Platform: Name, ID: "note:" + second.ID, Kind: chat.Group}, "", 20), "for followers", "for them too", "for all")
	want(t, r.told(chat.Place{Platform: Name, ID: "note:" + open.ID, Kind: chat.Broadcast}, "", 20), "for all")
}

// Direct words are found among many of ours that are none, and of others.
func TestHistoryOfDirectNotesAmongOthers(t *testing.T) {
	r := connected(t)
	bob := r.User("bob", "Bob", false)
	first := r.Write(r.ann, misskeytest.Draft{Text: "one", Visibility: "specified"})
	r.Write(r.Me(), misskeytest.Draft{Text: "two", Visibility: "specified", Visible: []string{r.ann.ID}, ReplyTo: first.ID})
	for range 130 {
		r.Write(r.Me(), misskeytest.Draft{Text: "in public"})
		r.Write(bob, misskeytest.Draft{Text: "from bob", Visibility: "specified"})
	}
	place := directPlace(dmPlace, r.ann.ID)
	want(t, r.told(place, "", 20), "one", "two")
	last := r.Write(r.ann, misskeytest.Draft{Text: "three", Visibility: "specified"})
	want(t, r.told(place, chat.MessageID(last.ID), 20), "one", "two")
	want(t, r.told(place, "", 2), "two", "three")
}

// Direct notes are those between one person and us: no mention of others, no reply of theirs, no note to somebody else.
func TestHistoryOfDirectNotes(t *testing.T) {
	r := connected(t)
	bob := r.User("bob", "Bob", false)
	direct := func(from misskeytest.User, text string, to ...string) misskeytest.Note {
		return r.Write(from, misskeytest.Draft{Text: text, Visibility: "specified", Visible: to})
	}
	first := direct(r.ann, "@familiar one", r.Me().ID)
	direct(bob, "@familiar from bob", r.Me().ID)
	direct(r.Me(), "to bob", bob.ID)
	direct(r.Me(), "two", r.ann.ID)
	r.Write(r.ann, misskeytest.Draft{Text: "@familiar in public"})
	r.Write(bob, misskeytest.Draft{Text: "@familiar a reply", ReplyTo: first.ID})
	r.Write(r.Me(), misskeytest.Draft{Text: "our own public words"})
	last := direct(r.ann, "three", r.Me().ID)
	place := chat.Place{Platform: Name, ID: "dm:" + r.ann.ID, Kind: chat.Direct}
	want(t, r.told(place, "", 20), "one", "two", "three")
	want(t, r.told(place, chat.MessageID(last.ID), 20), "one", "two")
	want(t, r.told(place, "", 2), "two", "three")
}

// AF-58: a chat is told oldest first, though the instance tells it newest first, so what stands before /clear is cut.
func TestHistoryOfAChat(t *testing.T) {
	r := connected(t)
	for _, text := range []string{"old", "/clear", "new"} {
		r.event(r.Chat(r.ann, text).ID)
	}
	r.do(chat.Say{Place: directPlace(chatPlace, r.ann.ID), Text: "ours"})
	last := r.Chat(r.ann, "now")
	r.event(last.ID)
	place := directPlace(chatPlace, r.ann.ID)
	want(t, r.told(place, "", 20), "old", "/clear", "new", "ours", "now")
	want(t, r.told(place, chat.MessageID(last.ID), 20), "old", "/clear", "new", "ours")
	want(t, r.told(place, chat.MessageID(last.ID), 2), "new", "ours")
	said, err := r.Before(t.Context(), place, "", 20)
	if err != nil || !said[3].From.Us || said[0].From.Name != "@Ann ("+r.ann.ID+")" || said[0].From.Us {
		t.Errorf("%+v, %v", said, err)
	}
}

// A message far back is found too.
func TestHistoryBeforeAnOldMessage(t *testing.T) {
	r := connected(t)
	var ids []string
	for i := range 40 {
		ids = append(ids, r.Chat(r.ann, fmt.Sprint("word ", i)).ID)
	}
	r.event(ids[39])
	place := directPlace(chatPlace, r.ann.ID)
	for _, at := range []int{39, 25, 20, 12, 3, 1, 0} {
		var expected []string
		for i := max(0, at-5); i < at; i++ {
			expected = append(expected, fmt.Sprint("word ", i))
		}
		want(t, r.told(place, chat.MessageID(ids[at]), 5), expected...)
	}
}

func TestHistoryOfOurTimeline(t *testing.T) {
	r := connected(t)
	for _, text := range []string{"one", "two", "three"} {
		r.Write(r.Me(), misskeytest.Draft{Text: text})
	}
	r.Write(r.Me(), misskeytest.Draft{Text: "a reply", ReplyTo: r.Notes()[0].ID})
	want(t, r.told(chat.Place{Platform: Name, ID: "timeline:self", Kind: chat.Self}, "", 2), "two", "three")
}

// Reading a chat marks it as read, and what is read is not announced any more. It is heard all the same, once.
func TestAMessageThatIsReadBeforeItIsAnnouncedIsHeard(t *testing.T) {
	r := connected(t)
	first := r.event(r.Chat(r.ann, "one").ID)
	r.Announce(1<<62 - 1) // never
	second := r.Chat(r.ann, "two")
	want(t, r.told(first.Place, first.Message, 20))
	if ev := r.event(second.ID); ev.Text() != "two" || ev.From.Name != "Ann" {
		t.Errorf("%+v", ev)
	}
	want(t, r.texts(), "one", "two")
}

// The emojis are those that everybody may use; when they cannot be fetched, those of last time are given.
func TestEmojis(t *testing.T) {
	r := connected(t)
	place := directPlace(chatPlace, r.ann.ID)
	r.Misbehave("emojis", misskeytest.Misbehaviour{Status: 500})
	if _, err := r.Emojis(t.Context(), place); err == nil {
		t.Error("no emojis, and no error")
	}
	list, err := r.Emojis(t.Context(), place)
	if err != nil || !slices.Equal(list, []chat.Emoji{{Category: "Cats", Text: ":blobcat:", Reaction: ":blobcat:"}, {Text: ":ok_hand2:", Reaction: ":ok_hand2:"}}) {
		t.Errorf("%+v, %v", list, err)
	}
	calls := r.Calls("emojis")
	if again, err := r.Emojis(t.Context(), place); err != nil || len(again) != 2 || r.Calls("emojis") != calls {
		t.Errorf("%+v, %v, %d calls", again, err, r.Calls("emojis"))
	}
	r.emojis.at = r.emojis.at.Add(-emojisKept)
	r.Misbehave("emojis", misskeytest.Misbehaviour{Status: 500})
	if again, err := r.Emojis(t.Context(), place); err != nil || len(again) != 2 || r.Calls("emojis") != calls+1 {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestGuide(t *testing.T) {
	r := newRig(t)
	if self := r.Self(); self.ID != "" || !self.Us {
		t.Errorf("%+v", self)
	}
	r.start()
	if self := r.Self(); self.ID != r.Me().ID || self.Name != "Familiar" || !self.Us {
		t.Errorf("%+v", self)
	}
	place, err := r.Direct(t.Context(), chat.Person{Platform: Name, ID: r.ann.ID})
	if err != nil || place != (chat.Place{Platform: Name, ID: "chat:" + r.ann.ID, Kind: chat.Direct}) {
		t.Errorf("%+v, %v", place, err)
	}
	for _, nobody := range []chat.Person{{Platform: "web", ID: "a"}, {Platform: Name}, {Platform: Name, ID: "a/b"}, {Platform: Name, ID: r.Me().ID}} {
		if _, err := r.Direct(t.Context(), nobody); err == nil || !strings.Contains(err.Error(), "alone") {
			t.Errorf("%+v: %v", nobody, err)
		}
	}
}

// A turn that is taken up again at the start asks before we are connected: it is told to wait, wherever it is.
func TestNothingIsToldBeforeWeKnowWhoWeAre(t *testing.T) {
	r := newRig(t)
	n := r.Write(r.ann, misskeytest.Draft{Text: "hello"})
	for _, id := range []string{"note:" + n.ID, "dm:" + r.ann.ID, "chat:" + r.ann.ID, ownTimeline} {
		_, err := r.Before(t.Context(), chat.Place{Platform: Name, ID: id}, "", 10)
		var later platform.Temporary
		if !errors.As(err, &later) {
			t.Errorf("%s: %v", id, err)
		}
	}
}
