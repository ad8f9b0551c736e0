package explanation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"familiar/internal/chat"
)

func TestRead(t *testing.T) {
	const whole = `{"kind":"said","platform":"discord","channel_id":"9","user_id":"7","username":"Ann","message_id":"m","is_dm":false,
		"guild_id":"g","content":"hi","timestamp":"2026-01-31T12:00:00.5Z","attachments":[{"id":"1","url":"u","mime_type":"image/png",
		"filename":"a.png","size":3,"width":1,"height":2,"is_image":true}],"raw":{"any":1}}`
	ev, err := Read(strings.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := chat.Event{ID: ev.ID, At: time.Date(2026, 1, 31, 12, 0, 0, 5e8, time.UTC), Addressed: true, Message: "m",
		Place: chat.Place{Platform: "discord", ID: "9", Kind: chat.Group, Guild: "g"},
		From:  chat.Person{Platform: "discord", ID: "7", Name: "Ann"},
		Body:  chat.Said{Text: "hi", Attachments: []chat.Attachment{{ID: "1", URL: "u", MIME: "image/png", Name: "a.png", Size: 3, Width: 1, Height: 2}}}}
	if got, want := fmt.Sprintf("%+v", ev), fmt.Sprintf("%+v", want); got != want {
		t.Errorf("read  %s\nwant %s", got, want)
	}
}

func TestReadKinds(t *testing.T) {
	const rest = `"platform":"p","channel_id":"c","user_id":"u","message_id":"m","content":"x"`
	for kind, want := range map[string]struct {
		body  chat.Body
		place chat.PlaceKind
	}{
		"said":      {chat.Said{Text: "x"}, chat.Group},
		"message":   {chat.Said{Text: "x"}, chat.Group},
		"":          {chat.Said{Text: "x"}, chat.Group},
		"edited":    {chat.Edited{Of: "m", Text: "x"}, chat.Group},
		"recalled":  {chat.Recalled{Of: "m"}, chat.Group},
		"reacted":   {chat.Reacted{To: "m", Emoji: "x"}, chat.Group},
		"pressed":   {chat.Pressed{Button: "x"}, chat.Group},
		"woke":      {chat.Woke{Job: "explained", Note: "x"}, chat.Group},
		"noticed":   {chat.Noticed{Surface: "explained", Text: "x"}, chat.Group},
		"settled":   {chat.Settled{Work: "explained", Text: "x"}, chat.Group},
		"direct":    {chat.Said{Text: "x"}, chat.Direct},
		"broadcast": {chat.Said{Text: "x"}, chat.Broadcast},
		"self":      {chat.Said{Text: "x"}, chat.Self},
	} {
		ev, err := Read(strings.NewReader(`{"kind":"` + kind + `",` + rest + `}`))
		if err != nil || fmt.Sprintf("%#v", ev.Body) != fmt.Sprintf("%#v", want.body) || ev.Place.Kind != want.place {
			t.Errorf("%q: %#v in %s, %v", kind, ev.Body, ev.Place.Kind, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for text, say := range map[string]string{
		``:                  "not whole JSON",
		`{`:                 "not whole JSON",
		"# an event":        "it is not JSON: byte 1: ",
		`[]`:                "it must be a JSON object, not a",
		`{"is_dm":"yes"}`:   "is_dm cannot be a string",
		`{"user":"7"}`:      "there are kind, platform",
		`{"platform":"p"}`:  "channel_id is missing",
		`{"channel_id":""}`: "platform is missing",
		`{"platform":"p","channel_id":"c","user_id":"u","kind":"shouted"}`:        "none of said",
		`{"platform":"p","channel_id":"c","user_id":"u","timestamp":"yesterday"}`: "not ISO 8601",
		`{"platform":"p","channel_id":"c","user_id":"u"}{}`:                       "one at a time",
		`"` + strings.Repeat("x", largestEvent) + `"`:                             "longer than",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"kind":"said","platform":"discord","channel_id":"9","user_id":"7","is_dm":true,"content":"hi"}`)
	f.Add(`{"platform":"p","channel_id":"c","user_id":"u","attachments":[{}],"raw":[1],"timestamp":"2026-01-31T12:00:00Z"}`)
	f.Add(`{"kind":"recalled"}`)
	f.Fuzz(func(t *testing.T, text string) {
		ev, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		if ev.Body == nil || ev.From.ID == "" || ev.Place.ID == "" || ev.Place.Platform != ev.From.Platform {
			t.Errorf("%+v", ev)
		}
		if err := (Explanation{Event: Of(ev), Then: &Then{}}).Write(new(strings.Builder)); err != nil {
			t.Error(err)
		}
	})
}

func TestWrite(t *testing.T) {
	e := Explanation{Event: About{Kind: "said", Platform: "p", ChannelID: "c", PlaceKind: "group", UserID: "u", Length: 3},
		Rules:   []Rule{{"self", Early, None, ""}, {"policy", Early, Passes, "replyPolicy all"}, {"rate", Late, None, "at most 3"}},
		Outcome: "accepted", Rule: "policy", Why: "replyPolicy all",
		Then: &Then{Trust: "known", Room: "r", SessionType: "message", Model: "m", ModelWhy: "rule 1", Yolo: true, YoloSource: "account_config"}}
	var b strings.Builder
	if err := e.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"said by p/u in c (group), not addressed to us, 3 characters\n", "before it is stored\n  self       no opinion\n",
		"  policy     lets it pass: replyPolicy all\n", "once it is stored\n  rate       no opinion: at most 3\n",
		"accepted, by the rule policy: replyPolicy all\n", "trust     known\n", "model     m (rule 1)\n", "unasked (account_config)\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	e.Then = &Then{Command: "/help"}
	b.Reset()
	if err := e.Write(&b); err != nil || !strings.Contains(b.String(), "/help runs at once") || strings.Contains(b.String(), "model") {
		t.Errorf("%v in\n%s", err, b.String())
	}
}
