package loop

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"familiar/internal/agent"
	"familiar/internal/agent/agenttest"
	"familiar/internal/llm"
)

func png1x1() []byte {
	var file bytes.Buffer
	_ = png.Encode(&file, image.NewRGBA(image.Rect(0, 0, 1, 1)))
	return file.Bytes()
}

func user(parts ...llm.Part) llm.Message  { return llm.Message{Role: llm.User, Parts: parts} }
func model(parts ...llm.Part) llm.Message { return llm.Message{Role: llm.Assistant, Parts: parts} }

func TestRepair(t *testing.T) {
	w := sentences()
	ask, answer := user(llm.Text("q")), model(llm.Text("a"))
	cases := map[string]struct {
		in, want []llm.Message
		done     Repairs
	}{
		"a whole one": {in: []llm.Message{ask, model(llm.Thinking{Text: "t", Signature: "s"}, call("x", `{"a":"\ud83d\ude00"}`)),
			user(llm.Result{Call: "toolu_x", Text: "r"}), answer},
			want: []llm.Message{ask, model(llm.Thinking{Text: "t", Signature: "s"}, call("x", `{"a":"\ud83d\ude00"}`)),
				user(llm.Result{Call: "toolu_x", Text: "r"}), answer}},
		"BUG-F15 a turn cut between call and result": {in: []llm.Message{ask, model(call("x", `{}`))},
			want: []llm.Message{ask, model(call("x", `{}`)), user(llm.Result{Call: "toolu_x", Text: w.NoResult, Failed: true}),
				model(llm.Text(w.CutOff))}, done: Repairs{Results: 1}},
		"BUG-F15 and gone on with": {in: []llm.Message{ask, model(call("x", `{}`)), ask, answer},
			want: []llm.Message{ask, model(call("x", `{}`)), user(llm.Result{Call: "toolu_x", Text: w.NoResult, Failed: true}),
				model(llm.Text(w.CutOff)), ask, answer}, done: Repairs{Results: 1, Parts: 1}},
		"BUG-F15 a corrupt image": {in: []llm.Message{user(llm.Text("see"), llm.Image{MIME: "image/png", Data: png1x1()[:40]}), answer},
			want: []llm.Message{user(llm.Text("see"), llm.Text(w.LostImage)), answer}, done: Repairs{Images: 1}},
		"an image of another kind": {in: []llm.Message{user(llm.Image{MIME: "image/gif", Data: png1x1()}), answer},
			want: []llm.Message{user(llm.Image{MIME: "image/png", Data: png1x1()}), answer}, done: Repairs{Images: 1}},
		"BUG-F15 half a character": {in: []llm.Message{user(llm.Text("a\xed\xa0\x80b")), model(call("x", `{"a":"\ud800\\ud800"}`)),
			user(llm.Result{Call: "toolu_x"}), answer},
			want: []llm.Message{user(llm.Text("a\uFFFDb")), model(call("x", `{"a":"\ufffd\\ud800"}`)), user(llm.Result{Call: "toolu_x"}), answer},
			done: Repairs{Texts: 2}},
		"results in another order, one twice, one of nothing": {in: []llm.Message{ask,
			model(llm.Call{ID: "1", Name: "x", Input: json.RawMessage(`{}`)}, llm.Call{ID: "2", Name: "x", Input: json.RawMessage(`{}`)}),
			user(llm.Result{Call: "2"}, llm.Result{Call: "1"}, llm.Result{Call: "2"}, llm.Result{Call: "3"}), answer},
			want: []llm.Message{ask,
				model(llm.Call{ID: "1", Name: "x", Input: json.RawMessage(`{}`)}, llm.Call{ID: "2", Name: "x", Input: json.RawMessage(`{}`)}),
				user(llm.Result{Call: "1"}, llm.Result{Call: "2"}), answer}, done: Repairs{Parts: 2}},
		"input that is no JSON": {in: []llm.Message{ask, model(call("x", `{"a":`)), user(llm.Result{Call: "toolu_x"}), answer},
			want: []llm.Message{ask, model(call("x", `{}`)), user(llm.Result{Call: "toolu_x"}), answer}, done: Repairs{Texts: 1}},
		"one name for two calls": {in: []llm.Message{ask, model(call("x", `{}`)), user(llm.Result{Call: "toolu_x"}),
			model(call("x", `{}`)), user(llm.Result{Call: "toolu_x"}), answer},
			want: []llm.Message{ask, model(call("x", `{}`)), user(llm.Result{Call: "toolu_x"}),
				model(llm.Call{ID: "call00001", Name: "x", Input: json.RawMessage(`{}`)}), user(llm.Result{Call: "call00001"}), answer}},
		"words of nobody": {in: []llm.Message{answer, {Role: "system"}, user(), ask, answer},
			want: []llm.Message{ask, answer}, done: Repairs{Parts: 3}},
		"nothing": {},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h, done := Repair(History{Messages: c.in})
			if !reflect.DeepEqual(h.Messages, c.want) {
				t.Errorf("got  %+v\nwant %+v", h.Messages, c.want)
			}
			if done != c.done {
				t.Errorf("mended %+v, want %+v", done, c.done)
			}
		})
	}
}

// BUG-F15: a session that is loaded from a damaged history goes on, and says so once.
func TestADamagedSessionGoesOn(t *testing.T) {
	stored := `{"version":1,"messages":[
		{"role":"user","parts":[{"type":"text","text":"look \ud83d"},{"type":"image","mime":"image/png","data":"AAAA"},{"type":"image","mime":"image/png","data":"%%"},{"type":"hologram"},7]},
		{"role":"assistant","parts":[{"type":"call","id":"c1","name":"note","input":"{\"text\":\"\\ud800\"}"}]}]}`
	var h History
	if err := json.Unmarshal([]byte(stored), &h); err != nil {
		t.Fatal(err)
	}
	m := steps()
	r := open(t, Defaults(), m, Setup{History: h})
	if got := r.Repairs(); got.Results != 1 || got.Images != 2 || got.Texts != 1 {
		t.Errorf("mended %+v", got)
	}
	notices := 0
	for range 2 {
		w := &agenttest.Watch{}
		if _, _, err := r.prompt(t.Context(), w, agent.Text("and now?")); err != nil {
			t.Fatal(err)
		}
		for _, u := range w.Updates() {
			if _, ok := u.(agent.Thought); ok {
				notices++
			}
		}
	}
	if notices != 1 {
		t.Errorf("%d notices, want one", notices)
	}
	r.whole(t)
}

func TestHistoryIsKept(t *testing.T) {
	in := History{Foreign: true, Messages: []llm.Message{user(llm.Text("q"), llm.Image{MIME: "image/png", Data: png1x1()}),
		model(llm.Thinking{Text: "t", Signature: "s"}, call("x", `{"a": 1}`), llm.Text("…")),
		user(llm.Result{Call: "toolu_x", Text: "no", Failed: true}), model(llm.Text("a"))}}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out History
	if err := json.Unmarshal(data, &out); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%v: %+v", err, out)
	}
	if err := json.Unmarshal([]byte(strings.Replace(string(data), `"version":1`, `"version":2`, 1)), &out); err == nil {
		t.Error("a version that nobody knows was read")
	}
}

// anyHistory makes histories that are wrong in every way.
func anyHistory() *rapid.Generator[[]llm.Message] {
	text := rapid.SampledFrom([]string{"", " ", "a", "é\xff", "\xed\xa0\x80", "長い"})
	id := rapid.SampledFrom([]string{"", "1", "2", "call00001", "a b", strings.Repeat("x", 70)})
	part := rapid.Custom(func(t *rapid.T) llm.Part {
		switch rapid.IntRange(0, 5).Draw(t, "part") {
		case 0:
			return llm.Text(text.Draw(t, "text"))
		case 1:
			return llm.Thinking{Text: text.Draw(t, "thought")}
		case 2:
			data := rapid.SampledFrom([][]byte{nil, png1x1(), png1x1()[:50], []byte("GIF89a"), []byte("RIFF\x10\x00\x00\x00WEBPVP8 ")}).Draw(t, "data")
			return llm.Image{MIME: "image/png", Data: data}
		case 3:
			input := rapid.SampledFrom([]string{"", "{}", "null", "[]", `{"a":"\udfff"}`, `{"a":"\ud83d\ude00\ud83d"}`, "{\"a\":\"\xff\"}", `{"a"`}).Draw(t, "input")
			return llm.Call{ID: id.Draw(t, "id"), Name: rapid.SampledFrom([]string{"", "x", "x.y"}).Draw(t, "name"), Input: json.RawMessage(input)}
		case 4:
			return llm.Result{Call: id.Draw(t, "of"), Text: text.Draw(t, "result")}
		}
		return nil
	})
	return rapid.Custom(func(t *rapid.T) []llm.Message {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Message {
			return llm.Message{Role: rapid.SampledFrom([]llm.Role{llm.User, llm.Assistant, llm.Assistant, "system"}).Draw(t, "role"),
				Parts: rapid.SliceOfN(part, 0, 4).Draw(t, "parts")}
		}), 0, 8).Draw(t, "messages")
	})
}

// BUG-F15: whatever a history is, what comes of the repair is whole, and is not repaired again; what was whole stays.
func TestRepairProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyHistory().Draw(t, "history")
		before := History{Messages: in}.Clone()
		out, _ := Repair(History{Messages: in})
		if !reflect.DeepEqual(before.Messages, History{Messages: in}.Clone().Messages) {
			t.Fatal("the repair changed what it was given")
		}
		if say := flaw(out.Messages); say != "" {
			t.Fatalf("%s: %+v", say, out.Messages)
		}
		if n := len(out.Messages); n > 0 && out.Messages[n-1].Role != llm.Assistant {
			t.Fatalf("it ends with a question: %+v", out.Messages)
		}
		if again, done := Repair(out); done.Any() || !reflect.DeepEqual(again, out) {
			t.Fatalf("repaired again: %+v\n%+v\n%+v", done, out, again)
		}
	})
}

// Trimming takes whole exchanges: the rest is whole again, and the newest exchange stays.
func TestTrimKeepsPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		repaired, _ := Repair(History{Messages: anyHistory().Draw(t, "history")})
		k := newTalk(repaired.Messages)
		keep := len(k.messages)
		k.tell(llm.Text("now"))
		most := rapid.IntRange(0, k.total).Draw(t, "most")
		gone := k.trim(most, keep)
		if say := flaw(k.messages); say != "" {
			t.Fatalf("%s: %+v", say, k.messages)
		}
		sum := 0
		for _, m := range k.messages {
			sum += weigh(m)
		}
		if sum != k.total || len(k.weights) != len(k.messages) {
			t.Fatalf("it weighs %d, and says %d", sum, k.total)
		}
		if gone < keep && k.total > most {
			t.Fatalf("%d tokens are left, and only %d of %d messages went", k.total, gone, keep)
		}
		if begins := begins(k.messages[0]); !begins {
			t.Fatal("what is left does not begin with an exchange")
		}
	})
}

// FuzzHistory: whatever lies on a disk, reading it ends with an error or with a conversation that can go on.
func FuzzHistory(f *testing.F) {
	for _, seed := range []string{
		`{"version":1,"messages":[{"role":"user","parts":[{"type":"text","text":"q"}]},{"role":"assistant","parts":[{"type":"call","id":"1","name":"x","input":"{}"}]}]}`,
		`{"version":1,"foreign":true,"messages":[{"role":"user","parts":[{"type":"image","mime":"image/png","data":"iVBORw0KGgo="},{"type":"text","text":"\ud800"}]}]}`,
		`{"version":1,"messages":[{"role":"assistant","parts":[{"type":"result","id":"1"},{"type":"thinking","text":"t"},null,3]}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var h History
		if json.Unmarshal(data, &h) != nil {
			return
		}
		repaired, _ := Repair(h)
		if say := flaw(repaired.Messages); say != "" {
			t.Fatal(say)
		}
		again, err := json.Marshal(repaired)
		var back History
		if err != nil || json.Unmarshal(again, &back) != nil {
			t.Fatal("it cannot be kept", err)
		}
		if _, done := Repair(back); done.Any() {
			t.Fatalf("kept, it is damaged: %+v", done)
		}
	})
}
