package llmtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

var script = Script{
	Rules: []Rule{
		{Name: "call", Match: Match{LastUser: "run", HasTool: "bash", NotAfter: true},
			Reply: Reply{Text: "ok", ToolCalls: []ToolCall{{Name: "bash", Arguments: `{"command":"ls"}`}}}},
		{Name: "after", Match: Match{AfterTool: "^bash$"}, Reply: Reply{Text: "said {{tool_result}}", ChunkSize: 100}},
		{Name: "once", Times: 1, Match: Match{LastUser: "once"}, Reply: Reply{Text: "first"}},
		{Name: "cut", Match: Match{LastUser: "cut"}, Reply: Reply{Text: "abcdefghij", ChunkSize: 2, CutAfter: 2}},
		{Name: "err", Match: Match{LastUser: "err"}, Reply: Reply{Status: 429, Error: "slow down", RetryAfter: "3"}},
		{Name: "img", Match: Match{HasImage: true}, Reply: Reply{Text: "image"}},
	},
	Default: &Reply{Text: "hello"},
}

func post(t *testing.T, s *Server, body string) (int, string, error) {
	t.Helper()
	resp, err := http.Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func TestToolRoundTrip(t *testing.T) {
	s := Start(t, script)
	for _, stream := range []string{"true", "false"} {
		_, out, _ := post(t, s, `{"model":"m","stream":`+stream+`,"messages":[{"role":"user","content":"run it"}],
			"tools":[{"type":"function","function":{"name":"bash"}}]}`)
		if !strings.Contains(out, `"tool_calls"`) || !strings.Contains(out, "bash") {
			t.Errorf("stream %s: no tool call in %s", stream, out)
		}
		_, out, _ = post(t, s, `{"model":"m","stream":`+stream+`,"messages":[{"role":"user","content":"run it"},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"c1","content":"file.txt"}]}`)
		if !strings.Contains(out, "said file.txt") {
			t.Errorf("stream %s: the tool's result is not in %s", stream, out)
		}
	}
	if n := len(s.Answered("after")); n != 2 {
		t.Errorf("%d requests after the tool, want 2", n)
	}
}

func TestRules(t *testing.T) {
	s := Start(t, script)
	ask := func(content string) (int, string) {
		code, out, _ := post(t, s, `{"model":"m","messages":[{"role":"user","content":`+content+`}]}`)
		return code, out
	}
	for _, c := range []struct{ content, want string }{
		{`"once"`, "first"}, {`"once"`, "hello"}, {`"err"`, "slow down"},
		{`[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:,"}}]`, "image"},
	} {
		if _, out := ask(c.content); !strings.Contains(out, c.want) {
			t.Errorf("%s: %q is not in %s", c.content, c.want, out)
		}
	}
	if code, _ := ask(`"err"`); code != 429 {
		t.Errorf("status %d, want 429", code)
	}
	if _, out, err := post(t, s, `{"stream":true,"messages":[{"role":"user","content":"cut"}]}`); err == nil {
		t.Errorf("the stream was not cut: %s", out)
	}
	s.Play(t, Script{})
	if code, _ := ask(`"x"`); code != 500 || len(s.Requests()) != 1 {
		t.Errorf("status %d after %d requests, want 500 after 1", code, len(s.Requests()))
	}
}

func TestModels(t *testing.T) {
	s := Start(t, Script{Models: []string{"a", "b"}})
	resp, err := http.Get(s.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || len(list.Data) != 2 || list.Data[1].ID != "b" {
		t.Errorf("models %v, error %v", list, err)
	}
}
