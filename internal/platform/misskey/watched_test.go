package misskey

import (
	"fmt"
	"slices"
	"testing"

	"familiar/internal/chat"
	"familiar/internal/platform/misskey/misskeytest"
)

// BUG-B10: a note that is taken back after it was heard is heard as such, also over another stream.
func TestADeletedNoteIsHeard(t *testing.T) {
	r := connected(t)
	one, two := r.mention(misskeytest.Draft{Text: "@familiar one"}), r.mention(misskeytest.Draft{Text: "two", Visibility: "specified"})
	r.until("both are watched", func() bool { return len(r.Watched()) == 2 })
	r.Delete(string(one.Message))
	recalled := func(of chat.Event) {
		t.Helper()
		var ev chat.Event
		r.until("that is heard", func() bool {
			all := r.heard()
			ev = all[len(all)-1]
			return ev.Body == chat.Recalled{Of: of.Message}
		})
		if !ev.Place.Same(of.Place) || !ev.From.Same(of.From) || ev.ID == of.ID || ev.At.IsZero() {
			t.Errorf("%+v", ev)
		}
	}
	recalled(one)
	r.Drop()
	r.until("the other one is watched again", func() bool { return r.Calls("streaming") == 2 && len(r.Watched()) == 1 })
	r.Delete(string(two.Message))
	recalled(two)
}

// Only so many are watched, and nothing that was not heard.
func TestWhatIsWatched(t *testing.T) {
	r := newRig(t)
	r.outcome = func(ev chat.Event) chat.Outcome {
		if ev.Text() == "no" {
			return chat.Refused
		}
		return chat.Accepted
	}
	r.start()
	r.Write(r.ann, misskeytest.Draft{Text: "@familiar no"})
	r.event(r.Chat(r.ann, "a chat").ID)
	for i := range mostWatched + 10 {
		r.Write(r.ann, misskeytest.Draft{Text: fmt.Sprint("@familiar ", i)})
	}
	last := r.mention(misskeytest.Draft{Text: "@familiar last"})
	r.until("it is watched", func() bool {
		return len(r.Watched()) == mostWatched && slices.Contains(r.Watched(), string(last.Message))
	})
	r.Delete(string(last.Message))
	r.until("it is heard", func() bool { return r.heard()[len(r.heard())-1].Body.Kind() == chat.KindRecalled })
}
