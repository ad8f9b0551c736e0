package llm

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"familiar/internal/secret"
)

// wired answers every request with the same bytes.
type wired string

func (w wired) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(string(w)))}, nil
}

// Whatever a provider sends, the outcome is an answer or a Problem; what was handed on and what is answered agree.
func FuzzAnswers(f *testing.F) {
	f.Add(brokenCall, true)
	f.Add("data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n", true)
	f.Add("data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\"}}\n\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"signature_delta\",\"signature\":\"x\"}}\n\n", true)
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"c\",\"arguments\":\"{\"}}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", false)
	f.Add("data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"a\",\"tool_calls\":[{\"id\":\"b\"},{\"id\":\"b\"},{}]}}]}\n\ndata: [DONE]\n\n", false)
	f.Add("data: {\"error\":{\"code\":429,\"message\":\"x\"}}\n\n", false)
	f.Fuzz(func(t *testing.T, stream string, anthropic bool) {
		id := map[bool]string{true: "anthropic", false: compatible}[anthropic]
		where, err := at(id, "http://127.0.0.1:9/v1", secret.New(canary), func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		c := newClient(where, Config{Model: "m"}, Deps{HTTP: &http.Client{Transport: wired(stream)}})
		var pieces []Piece
		out := &answering{saw: func(p Piece) { pieces = append(pieces, p) }}
		if err := c.once(t.Context(), say("hello"), out); err != nil {
			var p Problem
			if !errors.As(err, &p) || p.Say == "" || strings.Contains(p.Err.Error(), canary) {
				t.Fatalf("%q: %v", stream, err)
			}
			return
		}
		a := out.answer()
		var text, thinking string
		calls := map[string]bool{}
		for _, part := range a.Parts {
			switch part := part.(type) {
			case Text:
				text += string(part)
			case Thinking:
				thinking += part.Text
			case Call:
				calls[part.ID] = true
			case Image, Result:
				t.Fatalf("%q: a model said %T", stream, part)
			}
		}
		sawText, sawThinking, sawCalls := said(pieces)
		if text != sawText || thinking != sawThinking || len(calls) != len(sawCalls) || a.Stop == "" {
			t.Fatalf("%q: answer %+v, pieces %+v", stream, a, pieces)
		}
	})
}

func FuzzRefusal(f *testing.F) {
	f.Add(400, []byte(`{"error":{"message":"x","code":"y"}}`))
	f.Add(429, []byte(`[{"error":{"code":429,"details":[{"retryDelay":"34s"}]}}]`))
	f.Add(500, []byte(`{"error":"model requires more memory"}`))
	f.Add(422, []byte(`{"detail":"x"}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		where, err := at(compatible, "http://127.0.0.1:9/v1", secret.New(canary), func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		w, end := newClient(where, Config{Model: "m"}, Deps{}).wire(t.Context(), say("a rather long question"))
		defer end()
		p := w.refused(status, http.Header{}, body)
		if p.Kind == "" || p.Say == "" || p.After < 0 || strings.Contains(p.Err.Error(), canary) || strings.Contains(p.Err.Error(), "rather long question") {
			t.Fatalf("%d %q: %+v", status, body, p)
		}
	})
}
