package webhook

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"familiar/internal/chat"
)

func TestEvents(t *testing.T) {
	now := time.Now().UTC()
	direct, group := chat.Place{Platform: Name, ID: "c", Kind: chat.Direct}, chat.Place{Platform: Name, ID: "c", Kind: chat.Group}
	ann := chat.Person{Platform: Name, ID: "u"}
	named := ann
	named.Name = "Ann B"
	us := ann
	us.Us = true
	echo := chat.MessageID("b_0123456789abcdef01234567")
	for body, want := range map[string]chat.Event{
		`{"chatId":"c","userId":"u","messageId":"m","text":"hi"}`: {Place: direct, From: ann, Message: "m", Addressed: true,
			Body: chat.Said{Text: "hi"}},
		`{"chatId":"c","userId":"u","userName":" Ann\n B","messageId":"m","text":"hi","chatType":"group","else":1}`: {Place: group, From: named,
			Message: "m", Body: chat.Said{Text: "hi"}},
		`{"chatId":"c","userId":"u","messageId":"m","text":"a\r\nb\u0000\u001b","chatType":"group","mentioned":true}`: {Place: group, From: ann,
			Message: "m", Addressed: true, Body: chat.Said{Text: "a\nb"}},
		`{"chatId":"c","userId":"u","messageId":"m","text":"hi","chatType":"group","replyTo":"` + string(echo) + `"}`: {Place: group, From: ann,
			Message: "m", Addressed: true, Body: chat.Said{Text: "hi", ReplyTo: echo}},
		`{"type":"edit","chatId":"c","userId":"u","messageId":"m","text":"ho"}`: {Place: direct, From: ann, Message: "m", Addressed: true,
			Body: chat.Edited{Of: "m", Text: "ho"}},
		`{"type":"recall","chatId":"c","userId":"u","messageId":"m"}`: {Place: direct, From: ann, Message: "m", Addressed: true,
			Body: chat.Recalled{Of: "m"}},
		`{"chatId":"c","userId":"u","messageId":"m","attachments":[{"kind":"image","name":"../x/p.png","base64":"QUJD"}]}`: {Place: direct,
			From: ann, Message: "m", Addressed: true,
			Body: chat.Said{Attachments: []chat.Attachment{{ID: "0", Name: "p.png", MIME: "image/*", Size: 3}}}},
		// BUG-C19: what we sent ourselves and comes back is ours.
		`{"chatId":"c","userId":"u","messageId":"` + string(echo) + `","text":"hi"}`: {Place: direct, From: us, Message: echo, Addressed: true,
			Body: chat.Said{Text: "hi"}},
	} {
		got, err := eventOf([]byte(body), now)
		want.At = now
		want.ID = got.ID
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v %v, want\n%+v", body, got, err, want)
		}
	}
}

func TestIDsOfEvents(t *testing.T) {
	id := func(body string) chat.EventID {
		ev, err := eventOf([]byte(body), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return ev.ID
	}
	said := `{"chatId":"c","userId":"u","messageId":"m","text":"hi"}`
	edited := strings.Replace(said, "{", `{"type":"edit",`, 1)
	all := []chat.EventID{id(said), id(strings.Replace(said, `"c"`, `"d"`, 1)), id(strings.Replace(said, `"m"`, `"n"`, 1)), id(edited),
		id(strings.Replace(edited, "hi", "ho", 1)), id(strings.Replace(edited, "{", `{"revision":"2",`, 1)),
		id(strings.Replace(said, "{", `{"type":"recall",`, 1))}
	for i, one := range all {
		for _, other := range all[:i] {
			if one == other {
				t.Errorf("%d has the id of another event", i)
			}
		}
	}
	if id(said) != id(strings.Replace(said, "hi", "another text", 1)) || id(edited) != all[3] {
		t.Error("what comes again has an id of its own")
	}
}

func TestBadBodies(t *testing.T) {
	for body, want := range map[string]string{
		``:                            "the body is empty",
		`{}`:                          "chatId must have 1 to 256 characters",
		`{"chatId":"c"}`:              "userId must have",
		`{"chatId":"c","userId":"u"}`: "messageId must have",
		`{"chatId":" c","userId":"u","messageId":"m"}`:                                                    "chatId must have",
		`{"chatId":"c\n","userId":"u","messageId":"m"}`:                                                   "chatId must have",
		`{"chatId":"` + strings.Repeat("c", 257) + `","userId":"u","messageId":"m"}`:                      "chatId must have",
		`{"chatId":1,"userId":"u","messageId":"m","text":"x"}`:                                            "chatId cannot be a number",
		`{"chatId":"c","userId":"u","messageId":"m","text":"  \n"}`:                                       "text is empty",
		`{"chatId":"c","userId":"u","messageId":"m","text":"x","type":"shout"}`:                           `type is "shout"`,
		`{"chatId":"c","userId":"u","messageId":"m","text":"x","chatType":"x"}`:                           `chatType is "x"`,
		`{"chatId":"c","userId":"u","messageId":"m","text":"x"} {}`:                                       "something after",
		`{"chatId":"c","userId":"u","messageId":"m","type":"edit"}`:                                       "text is empty",
		`{"chatId":"c","userId":"u","messageId":"m","attachments":[` + strings.Repeat(`{},`, 20) + `{}]}`: "the most is 20",
		`[1]`: "must be a JSON object",
	} {
		if _, err := eventOf([]byte(body), time.Now()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", body, err, want)
		}
	}
}

// BUG-J12: a foreign name is one name inside the folder that it is put in, whatever it tries.
func TestNamesOfFiles(t *testing.T) {
	for name, want := range map[string]string{
		"photo.png": "photo.png", "../../x": "x", `..\..\\x`: "x", `a/b\c.txt`: "c.txt", "/etc/passwd": "passwd", `C:\x.txt`: "x.txt",
		"C:x.txt": "x.txt", "..": nameless, ".": nameless, "": nameless, "../": nameless, "a/..": nameless, ".bashrc": "bashrc",
		"-rf": "rf", "a\x00b\n.txt": "ab.txt", "x. . ": "x", "報告 最終.pdf": "報告 最終.pdf", "gpj\u202e.exe": "gpj.exe", "a.txt:stream": "stream",
		strings.Repeat("長", 100): strings.Repeat("長", 85), "\xff\xfe": nameless,
	} {
		if got := safeName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte(`{"type":"edit","chatId":"c","userId":"u","messageId":"m","text":"x","revision":"1"}`))
	f.Add([]byte(`{"chatId":"c","userId":"u","messageId":"m","attachments":[{"name":"..\\..\\x","url":"u","base64":"QQ=="}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		ev, err := eventOf(body, time.Unix(1_700_000_000, 0).UTC())
		if err != nil {
			if msg := err.Error(); !utf8.ValidString(msg) || len(msg) > 300 {
				t.Errorf("the sender is told %q", msg)
			}
			return
		}
		if ev.Place.Platform != Name || !isID(ev.Place.ID) || !isID(ev.From.ID) || !isID(string(ev.Message)) || ev.ID == "" {
			t.Errorf("an event without what each has: %+v", ev)
		}
		text, err := json.Marshal(ev)
		var back chat.Event
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back.ID != ev.ID || back.Text() != ev.Text() {
			t.Errorf("%+v cannot be kept: %+v %v", ev, back, err)
		}
		m, _ := ev.AsMessage()
		for _, a := range m.Attachments {
			if !filepath.IsLocal(a.Name) || strings.ContainsAny(a.Name, "/\\:\x00\n") || a.Name == "." {
				t.Errorf("a file is called %q", a.Name)
			}
		}
	})
}
