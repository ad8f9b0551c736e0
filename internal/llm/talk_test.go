package llm

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"familiar/internal/llm/llmtest"
)

func TestTextStreams(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		r := newRig(t, provider, answers(llmtest.Reply{Text: "Grüße, 世界! And more.", ChunkSize: 3,
			Usage: llmtest.Usage{Input: 40, Output: 7, Cached: 30}}))
		a, pieces := r.ask(t, say("hello"))
		text, _, _ := said(pieces)
		if text != "Grüße, 世界! And more." || len(pieces) < 5 {
			t.Errorf("%d pieces: %q", len(pieces), text)
		}
		if !reflect.DeepEqual(a, Answer{Parts: []Part{Text(text)}, Stop: Ended, Usage: Usage{40, 7, 30}}) {
			t.Errorf("answer %+v", a)
		}
		if r.Name() != "stub-1" || r.Provider() == "" {
			t.Errorf("it is %q of %q", r.Name(), r.Provider())
		}
	})
}

func TestStops(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		for finish, want := range map[string]Stop{"": Ended, "length": TooLong, "refusal": Refused} {
			r := newRig(t, provider, answers(llmtest.Reply{Text: "x", Finish: finish}))
			if a, _ := r.ask(t, say("hello")); a.Stop != want {
				t.Errorf("%q: stopped as %q, want %q", finish, a.Stop, want)
			}
		}
	})
}

// The last event may be missing when the provider has said why it stopped; noise of proxies says nothing.
func TestStreamsOfOtherForms(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		r := newRig(t, provider, answers(llmtest.Reply{Text: "whole", NoDone: true, Comments: true, ChunkSize: 1}))
		if a, _ := r.ask(t, say("hello")); !reflect.DeepEqual(a.Parts, []Part{Text("whole")}) {
			t.Errorf("answer %+v", a)
		}
	})
}

var twoCalls = []llmtest.ToolCall{{Name: "look", Arguments: `{"where":"茶 cupboard"}`}, {Name: "look", Arguments: `{"where":"shelf"}`}, {Name: "wait"}}

func TestParallelCalls(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		for name, reply := range map[string]llmtest.Reply{
			"whole":             {ToolCalls: twoCalls},
			"in pieces, mixed":  {ToolCalls: twoCalls, Split: true, ChunkSize: 2, Text: "looking"},
			"all numbered zero": {ToolCalls: twoCalls, Index: llmtest.Zero},
			"without numbers":   {ToolCalls: twoCalls, Index: llmtest.None},
		} {
			r := newRig(t, provider, answers(reply))
			a, pieces := r.ask(t, say("where is the tea?"))
			_, _, calls := said(pieces)
			if a.Stop != WantsTool || len(calls) != 3 {
				t.Fatalf("%s: stopped as %q with calls %v", name, a.Stop, calls)
			}
			ids := map[string]bool{}
			var got []string
			for i, c := range calls {
				ids[c.ID] = true
				got = append(got, c.Name+string(c.Input))
				if part, ok := a.Parts[len(a.Parts)-3+i].(Call); !ok || !reflect.DeepEqual(part, c) {
					t.Errorf("%s: part %v, piece %v", name, part, c)
				}
			}
			want := []string{`look{"where":"茶 cupboard"}`, `look{"where":"shelf"}`, `wait{}`}
			if !reflect.DeepEqual(got, want) || len(ids) != 3 {
				t.Errorf("%s: calls %q, ids %v", name, got, ids)
			}
		}
	})
}

// A model that writes no JSON gets its words back; the next question must still be one that the provider takes.
func TestWrongInput(t *testing.T) {
	each(t, func(t *testing.T, provider string) {
		r := newRig(t, provider, llmtest.Script{Rules: []llmtest.Rule{
			{Match: llmtest.Match{AfterTool: "look"}, Reply: llmtest.Reply{Text: "sorry"}},
			{Reply: llmtest.Reply{Split: true, ToolCalls: []llmtest.ToolCall{{Name: "look", Arguments: `{"where": tea`, Wrong: true}}}}}})
		if provider == "anthropic" { // a block of this dialect is written as JSON by the script itself
			r.server.Play(t, answers(llmtest.Reply{RawType: "text/event-stream", Raw: brokenCall}))
		}
		q := say("where is the tea?")
		a, _ := r.ask(t, q)
		call, ok := a.Parts[0].(Call)
		if !ok || json.Valid(call.Input) || !strings.Contains(string(call.Input), "tea") {
			t.Fatalf("parts %v", a.Parts)
		}
		r.server.Play(t, answers(llmtest.Reply{Text: "sorry"}))
		q.Messages = append(q.Messages, Message{Assistant, a.Parts}, Message{User, []Part{Result{Call: call.ID, Text: "input: no JSON", Failed: true}}})
		r.ask(t, q)
		asked := r.server.Requests()[0]
		if asked.ToolName != "look" || !strings.HasSuffix(asked.ToolResult, "input: no JSON") || !strings.Contains(string(asked.Body), "unreadable") {
			t.Errorf("asked %s", asked.Body)
		}
	})
}

const brokenCall = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"look","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"where\": tea"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: something_new
data: {"type":"something_new","field":[1]}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`

// Thinking streams, and goes back with its proof to whoever made it, and to nobody else.
func TestThinkingGoesBackWithItsProof(t *testing.T) {
	call := []llmtest.ToolCall{{Name: "look"}}
	first := newRig(t, "anthropic", answers(llmtest.Reply{Redacted: "c2VjcmV0", Thinking: "tea is in the cupboard", Signature: "c2ln", Text: "let me see", ToolCalls: call}))
	q := say("tea?")
	a, pieces := first.ask(t, q)
	if _, thinking, _ := said(pieces); thinking != "tea is in the cupboard" {
		t.Errorf("thought %q", thinking)
	}
	history := append(q.Messages, Message{Assistant, a.Parts}, Message{User, []Part{Result{Call: "toolu_0", Text: "here"}}})
	first.ask(t, Question{Messages: history})
	body := string(first.server.Requests()[1].Body)
	for _, want := range []string{`{"type":"redacted_thinking","data":"c2VjcmV0"}`, `{"type":"thinking","thinking":"tea is in the cupboard","signature":"c2ln"}`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	for _, provider := range []string{"openai", "gemini", "compatible"} {
		other := newRig(t, provider, answers(llmtest.Reply{Text: "x"}))
		other.ask(t, Question{Messages: history})
		if body := string(other.server.Requests()[0].Body); strings.Contains(body, "c2ln") || strings.Contains(body, "cupboard") {
			t.Errorf("%s was told %s", provider, body)
		}
	}
}

func TestGeminiGetsItsProofBack(t *testing.T) {
	r := newRig(t, "gemini", answers(llmtest.Reply{Signature: "Z29vZ2xl", ToolCalls: twoCalls}))
	q := say("tea?")
	a, _ := r.ask(t, q)
	var results []Part
	for _, p := range a.Parts {
		if c, ok := p.(Call); ok {
			results = append(results, Result{Call: c.ID, Text: "no"})
		}
	}
	q.Messages = append(q.Messages, Message{Assistant, a.Parts}, Message{User, results})
	r.ask(t, q)
	body := string(r.server.Requests()[1].Body)
	if strings.Count(body, `"extra_content":{"google":{"thought_signature":"Z29vZ2xl"}}`) != 1 {
		t.Errorf("asked %s", body)
	}
	other := newRig(t, "anthropic", answers(llmtest.Reply{Text: "x"}))
	other.ask(t, q)
	if body := string(other.server.Requests()[0].Body); strings.Contains(body, "Z29vZ2xl") {
		t.Errorf("asked %s", body)
	}
}

func TestReasoningOfCompatibleServers(t *testing.T) {
	for _, reply := range []llmtest.Reply{{Thinking: "hm, tea", Text: "tea", ChunkSize: 2}, {Thinking: "hm, tea", Reasoning: true, Text: "tea", ChunkSize: 2}} {
		r := newRig(t, "compatible", answers(reply))
		a, pieces := r.ask(t, say("what?"))
		if text, thinking, _ := said(pieces); text != "tea" || thinking != "hm, tea" || len(a.Parts) != 2 {
			t.Errorf("said %q, thought %q, parts %v", text, thinking, a.Parts)
		}
		r.ask(t, Question{Messages: []Message{{User, []Part{Text("what?")}}, {Assistant, a.Parts}, {User, []Part{Text("more")}}}})
		if back := strings.Contains(string(r.server.Requests()[1].Body), `"reasoning_content":"hm, tea"`); back == reply.Reasoning {
			t.Errorf("reasoning went back: %v; asked %s", back, r.server.Requests()[1].Body)
		}
	}
}

func TestImagesAndStructuredOutput(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"kind":{"type":"string"}},"required":["kind"],"additionalProperties":false}`)
	each(t, func(t *testing.T, provider string) {
		r := newRig(t, provider, llmtest.Script{Rules: []llmtest.Rule{{Match: llmtest.Match{HasImage: true}, Reply: llmtest.Reply{Text: `{"kind":"tea"}`}}}})
		q := Question{System: "You see.", Schema: schema, MaxTokens: 77, Messages: []Message{{User, []Part{Text("what is it?"), Image{MIME: "text/plain", Data: picture(t)}}}}}
		if a, _ := r.ask(t, q); !reflect.DeepEqual(a.Parts, []Part{Text(`{"kind":"tea"}`)}) {
			t.Errorf("answer %v", a.Parts)
		}
		body := string(r.server.Requests()[0].Body)
		for _, want := range []string{`"json_schema"`, `"additionalProperties":false`, "image/png", "77", "You see."} {
			if !strings.Contains(body, want) {
				t.Errorf("%s is not in %s", want, body)
			}
		}
	})
}

func TestStrictOnlyWhereTheSchemaAllowsIt(t *testing.T) {
	closed := `{"type":"object","properties":{"a":{"type":"array","items":%s}},"required":["a"],"additionalProperties":false}`
	for schema, want := range map[string]bool{
		`{"type":"string"}`: true,
		`{"type":"object","properties":{"a":{}},"additionalProperties":false}`: false,
		`{"type":"object","properties":{"a":{}},"required":["a"]}`:             false,
		strings.Replace(closed, "%s", `{"type":"string"}`, 1):                  true,
		strings.Replace(closed, "%s", `{"type":"object"}`, 1):                  false,
		`not json`: false,
	} {
		if got := strict(json.RawMessage(schema)); got != want {
			t.Errorf("%s: strict %v", schema, got)
		}
	}
}
