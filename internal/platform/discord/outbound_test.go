package discord

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/platform/discord/discordtest"
)

// do does something, which must go well.
func (r *rig) do(t *testing.T, a chat.Action) chat.Receipt {
	t.Helper()
	receipt, err := r.Do(limited(t), a)
	if err != nil {
		t.Fatalf("Do(%T): %v", a, err)
	}
	return receipt
}

// last is the newest message of a channel.
func (r *rig) last(t *testing.T, c *discordtest.Channel) discordtest.Message {
	t.Helper()
	said := r.net.Said(c)
	if len(said) == 0 {
		t.Fatal("nothing was said")
	}
	return said[len(said)-1]
}

// offline is a platform that need not be connected to act.
func offline(t *testing.T) *rig { t.Helper(); return world(t, false).open(nil) }

func TestReplies(t *testing.T) {
	r := offline(t)
	q := r.net.Say(r.talk, r.ann, "?")
	r.do(t, chat.Say{Place: r.here(), Text: "an answer", ReplyTo: chat.MessageID(q.ID), Key: "k"})
	if m := r.last(t, r.talk); m.Reference == nil || m.Reference.MessageID != q.ID || len(m.Nonce) != 24 {
		t.Errorf("posted %+v", m)
	}
	r.net.Delete(r.talk, q.ID)
	r.do(t, chat.Say{Place: r.here(), Text: "late", ReplyTo: chat.MessageID(q.ID), Key: "l"})
	if m := r.last(t, r.talk); m.Content != "late" || m.Reference != nil {
		t.Errorf("in answer to what is gone: %+v", m)
	}
	// Whatever an agent or a person puts into a text rings nobody's bell.
	sent := r.do(t, chat.Say{Place: r.here(), Text: "@everyone @here <@" + r.ann.ID + "> <@&" + r.guild.ID + ">", Key: "m"})
	if m := r.last(t, r.talk); m.Everyone || len(m.Mentions) > 0 {
		t.Errorf("it rings: %+v", m)
	}
	r.do(t, chat.Edit{Place: r.here(), Message: sent.Message, Text: "@everyone <@" + r.ann.ID + ">"})
	if m := r.last(t, r.talk); m.Everyone || len(m.Mentions) > 0 || m.ID != string(sent.Message) || m.EditedAt == nil {
		t.Errorf("the edit rings: %+v", m)
	}
	// The limit is 2,000 code points, not units of UTF-16.
	r.do(t, chat.Say{Place: r.here(), Text: strings.Repeat("🫖", 2000), Key: "n"})
	if _, err := r.Do(limited(t), chat.Say{Place: r.here(), Text: strings.Repeat("a", 2001), Key: "o"}); err == nil || !strings.Contains(err.Error(), "2000") {
		t.Errorf("2,001 characters: %v", err)
	}
}

// What Discord does not take as an answer stands alone; whatever else it refuses is not said otherwise.
func TestAnswersThatCannotBeAnswers(t *testing.T) {
	r := offline(t)
	r.talk.Unread = true
	q := r.net.Say(r.talk, r.ann, "?")
	for name, a := range map[string]chat.Action{
		"may not read": chat.Say{Place: r.here(), Text: "may not read", ReplyTo: chat.MessageID(q.ID), Key: "k"},
		"with a file":  chat.SendFile{Place: r.here(), Text: "with a file", ReplyTo: chat.MessageID(q.ID), Key: "l", Files: []chat.File{file(t, "tea.txt", "green")}},
	} {
		r.do(t, a)
		if m := r.last(t, r.talk); m.Content != name || m.Reference != nil || m.Nonce == "" {
			t.Errorf("posted %+v", m)
		}
	}
	r.talk.Unread = false
	wrong := func(field, say string) {
		r.net.Fail(discordtest.Answer{Match: "POST /channels/", Status: 400, Body: fmt.Sprintf(
			`{"code":50035,"message":"Invalid Form Body","errors":{%q:{"_errors":[{"code":"X","message":%q}]}}}`, field, say)})
	}
	wrong("message_reference", "Cannot reply to a system message")
	r.do(t, chat.Say{Place: r.here(), Text: "of the system", ReplyTo: chat.MessageID(q.ID), Key: "m"})
	if m := r.last(t, r.talk); m.Content != "of the system" || m.Reference != nil {
		t.Errorf("posted %+v", m)
	}
	wrong("content", "Must be shorter")
	if _, err := r.Do(limited(t), chat.Say{Place: r.here(), Text: "no", ReplyTo: chat.MessageID(q.ID), Key: "n"}); err == nil || r.last(t, r.talk).Content == "no" {
		t.Errorf("what was refused was said: %v", err)
	}
}

// Every place in which people write takes our words too, and a forum itself says no in words.
func TestPlaces(t *testing.T) {
	r := offline(t)
	for _, kind := range []int{discordtest.Text, discordtest.News, discordtest.Thread, discordtest.Voice} {
		c := r.net.AddChannel(r.guild, "c", kind)
		r.do(t, chat.Say{Place: place(c.ID, r.guild.ID), Text: "hello", Key: c.ID})
	}
	alone, err := r.Direct(limited(t), chat.Person{Platform: Name, ID: r.ann.ID})
	if err != nil || !alone.Private() {
		t.Fatalf("%+v, %v", alone, err)
	}
	r.do(t, chat.Say{Place: alone, Text: "hello", Key: "alone"})
	closed, deaf := r.net.AddChannel(r.guild, "closed", discordtest.Text), r.net.AddChannel(r.guild, "deaf", discordtest.Text)
	r.net.CloseChannel(closed)
	deaf.ReadOnly = true
	forum := r.net.AddChannel(r.guild, "forum", discordtest.Forum)
	ben := r.net.AddUser("ben", "")
	shy := r.net.Direct(ben)
	r.net.Change(ben.ID, (*discordtest.User).Silent)
	for c, say := range map[*discordtest.Channel]string{closed: "Unknown Channel", deaf: "lacks a permission", forum: "non-text channel", shy: "Cannot send messages to this user"} {
		_, err := r.Do(limited(t), chat.Say{Place: place(c.ID, c.Guild), Text: "hello", Key: "x" + c.ID})
		var again platform.Temporary
		var unsure platform.Uncertain
		if err == nil || errors.As(err, &again) || errors.As(err, &unsure) || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	for _, where := range []chat.Place{{Platform: Name, ID: "../users/@me", Kind: chat.Group}, {Platform: Name, ID: "", Kind: chat.Group}, {Platform: "web", ID: r.talk.ID}} {
		if _, err := r.Do(limited(t), chat.Say{Place: where, Text: "hello"}); err == nil {
			t.Errorf("%+v is no place", where)
		}
	}
	if _, err := r.Do(limited(t), chat.Delete{Place: r.here(), Message: "1/../../x"}); err == nil {
		t.Error("that is no message")
	}
	for _, path := range r.net.Tally().Requests {
		if strings.Contains(path, "..") {
			t.Errorf("asked for %s", path)
		}
	}
}

// What is not known to have been taken may be asked again: the nonce posts it once.
func TestAnswersThatGetLost(t *testing.T) {
	for name, lost := range map[string]discordtest.Answer{
		"502 behind a post": {Match: "POST /channels/", Status: 502, Body: "<html>bad gateway</html>", Done: true},
		"cut behind a post": {Match: "POST /channels/", Abort: true, Done: true},
		"500 before a post": {Match: "POST /channels/", Status: 500, Body: "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			r := offline(t)
			r.net.Fail(lost)
			say := chat.Say{Place: r.here(), Text: "once", Key: "key"}
			_, err := r.Do(limited(t), say)
			var unsure platform.Uncertain
			if !errors.As(err, &unsure) || strings.Contains(err.Error(), r.net.Token()) {
				t.Fatalf("%v", err)
			}
			r.do(t, say)
			if got := r.net.Posted(r.talk); !slices.Equal(got, []string{"once"}) {
				t.Errorf("people read %q", got)
			}
			// What can be done twice is only to be tried again.
			sent := r.do(t, chat.Say{Place: r.here(), Text: "another", Key: "other"})
			r.net.Fail(discordtest.Answer{Match: "PATCH /channels/", Status: 503})
			_, err = r.Do(limited(t), chat.Edit{Place: r.here(), Message: sent.Message, Text: "better"})
			var later platform.Temporary
			if !errors.As(err, &later) {
				t.Errorf("an edit: %v", err)
			}
		})
	}
}

func TestRateLimits(t *testing.T) {
	body := func(after string, global bool) string {
		return fmt.Sprintf(`{"message":"You are being rate limited.","retry_after":%s,"global":%v}`, after, global)
	}
	for name, c := range map[string]struct {
		answer discordtest.Answer
		after  time.Duration
	}{
		"429 of one channel": {discordtest.Answer{Status: 429, Body: body("12.5", false), Header: map[string]string{
			"X-RateLimit-Bucket": "b", "Retry-After": "13", "X-RateLimit-Scope": "user"}}, 12500 * time.Millisecond},
		"429 of everything": {discordtest.Answer{Status: 429, Body: body("20.25", true), Header: map[string]string{
			"X-RateLimit-Global": "true", "Retry-After": "21", "X-RateLimit-Scope": "global"}}, 20250 * time.Millisecond},
		"429 by whoever stands before": {discordtest.Answer{Status: 429, Body: "<html>", Header: map[string]string{"Retry-After": "30"}}, 30 * time.Second},
		"429 without end":              {discordtest.Answer{Status: 429, Body: body("1e300", false)}, time.Hour},
		"429 without a word":           {discordtest.Answer{Status: 429}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := offline(t)
			c.answer.Match = "POST /channels/"
			r.net.Fail(c.answer)
			_, err := r.Do(limited(t), chat.Say{Place: r.here(), Text: "hello", Key: "k"})
			var later platform.Temporary
			if !errors.As(err, &later) || later.After != c.after {
				t.Fatalf("%v, after %v, want %v", err, later.After, c.after)
			}
			if c.after < patience {
				return
			}
			// Until then nothing more is asked: whoever would wait long is told so.
			asked := len(r.net.Tally().Requests)
			_, err = r.Do(limited(t), chat.Say{Place: r.here(), Text: "hello", Key: "k"})
			known := c.answer.Header != nil
			if errors.As(err, &later) != known || known && len(r.net.Tally().Requests) != asked {
				t.Errorf("asked again at once: %v", err)
			}
		})
	}
}

// The allowance that Discord tells is kept, so that there is no 429; the order is kept too.
func TestAllowancesAreKept(t *testing.T) {
	r := offline(t) // an allowance that is exceeded is a problem of the test
	r.net.Limit(discordtest.Limit{Count: 3, Every: 300 * time.Millisecond})
	var want []string
	for i := range 8 {
		text := fmt.Sprint("number ", i)
		want = append(want, text)
		r.do(t, chat.Say{Place: r.here(), Text: text, Key: text})
	}
	if got := r.net.Posted(r.talk); !slices.Equal(got, want) {
		t.Errorf("people read %q", got)
	}
}

func TestARevokedToken(t *testing.T) {
	r := offline(t)
	r.net.Revoke()
	_, err := r.Do(limited(t), chat.Say{Place: r.here(), Text: "hello", Key: "k"})
	wantFatal(t, err, []string{"Reset Token"})
}

func TestFiles(t *testing.T) {
	r := offline(t)
	q := r.net.Say(r.talk, r.ann, "?")
	hostile := "a\"; filename=\"b\r\nX: y/../c.txt"
	r.do(t, chat.SendFile{Place: r.here(), Text: "two files", ReplyTo: chat.MessageID(q.ID), Key: "k",
		Files: []chat.File{file(t, "tea.txt", "green"), file(t, hostile, "black")}})
	m := r.last(t, r.talk)
	if m.Content != "two files" || m.Reference == nil || len(m.Attachments) != 2 || m.Nonce == "" {
		t.Fatalf("posted %+v", m)
	}
	if a := m.Attachments[0]; a.Name != "tea.txt" || a.Size != 5 {
		t.Errorf("the first is %+v", a)
	}
	if a := m.Attachments[1]; strings.ContainsAny(a.Name, "\"\r\n/\\") || a.Size != 5 {
		t.Errorf("the second is %+v", a)
	}
	r.do(t, chat.SendFile{Place: r.here(), Files: []chat.File{file(t, "alone.txt", "x")}, Key: "l"})
	for name, files := range map[string][]chat.File{
		"none there":  {{Path: "/nonexistent", Name: "x"}},
		"a directory": {{Path: t.TempDir(), Name: "x"}},
		"too many":    slices.Repeat([]chat.File{file(t, "x", "x")}, 11),
	} {
		if _, err := r.Do(limited(t), chat.SendFile{Place: r.here(), Files: files, Key: name}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestReactions(t *testing.T) {
	r := world(t, false)
	tea := r.net.AddGuild("Another", nil, discordtest.Emoji{Name: "tea", Available: true}).Emojis[0]
	r.open(nil)
	r.run(t)
	r.until(t, "it knows the emojis", func() bool { return r.emojiID("tea") == tea.ID })
	for form, want := range map[string]string{"👍": "👍", " 🏳️‍🌈 ": "🏳️‍🌈", "tea:" + tea.ID: "tea", "<:tea:" + tea.ID + ">": "tea", "<a:tea:" + tea.ID + ">": "tea", ":tea:": "tea"} {
		m := r.net.Say(r.talk, r.ann, "?")
		r.do(t, chat.React{Place: r.here(), Message: chat.MessageID(m.ID), Emoji: form})
		if got := r.last(t, r.talk).Reactions; len(got) != 1 || got[0].Emoji.Name != want {
			t.Errorf("%q: %+v", form, got)
		}
	}
	m := r.net.Say(r.talk, r.ann, "?")
	for _, form := range []string{":nothing:", "../../../x", "words"} {
		if _, err := r.Do(limited(t), chat.React{Place: r.here(), Message: chat.MessageID(m.ID), Emoji: form}); err == nil {
			t.Errorf("%q is no emoji", form)
		}
	}
}

func TestTypingIsShownWhereItIsOn(t *testing.T) {
	r := offline(t)
	r.do(t, chat.Typing{Place: r.here()})
	if n := len(r.net.Tally().Typed); n != 1 {
		t.Errorf("typed %d times", n)
	}
	off := world(t, false).open(func(c *Config) { c.TypingIndicator.Enabled = false })
	_, err := off.Do(limited(t), chat.Typing{Place: off.here()})
	if !errors.Is(err, platform.ErrUnsupported) || off.Abilities().Typing {
		t.Errorf("where it is off: %v", err)
	}
}

// A server that sends what has no end, or leads elsewhere, gets neither our memory nor our token.
func TestHostileAnswers(t *testing.T) {
	r := offline(t)
	r.net.Fail(discordtest.Answer{Match: "GET /channels/", Status: http.StatusFound, Header: map[string]string{"Location": "http://127.0.0.1:1/"}})
	if _, err := r.Before(limited(t), r.here(), "", 5); err == nil || strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("BUG-J22: a redirect was followed, or is shown: %v", err)
	}
	r.net.Fail(discordtest.Answer{Match: "GET /channels/", Status: 200, Body: strings.Repeat(" ", maxAnswer+1) + "[]"})
	if _, err := r.Before(limited(t), r.here(), "", 5); err == nil {
		t.Error("an answer without end was read")
	}
	r.net.Fail(discordtest.Answer{Match: "GET /channels/", Status: 200, Body: "<html>"})
	if _, err := r.Before(limited(t), r.here(), "", 5); err == nil {
		t.Error("HTML is no history")
	}
}
