package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// events writes a streamed answer, with the script's cuts.
type events struct {
	gone   <-chan struct{}
	w      http.ResponseWriter
	model  string
	reply  Reply
	chunks int
}

func stream(gone <-chan struct{}, w http.ResponseWriter, model string, r Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	e := &events{gone: gone, w: w, model: model, reply: r}
	e.send(answer{Role: "assistant", Content: new("")}, nil)
	for _, piece := range pieces(r.Thinking, r.ChunkSize) {
		e.chunk(answer{Reasoning: piece})
	}
	for _, piece := range pieces(r.Text, r.ChunkSize) {
		e.chunk(answer{Content: &piece})
	}
	for _, call := range r.calls() {
		e.chunk(answer{Calls: []toolCall{call}})
	}
	e.send(answer{}, r.finish())
	e.event(completion{Choices: []choice{}, Usage: r.usage()})
	e.raw("data: [DONE]\n\n")
}

// chunk sends a piece of output. Where the script says so, the connection is cut in mid-stream.
func (e *events) chunk(a answer) {
	if e.reply.Garbage && e.chunks == 1 {
		e.raw("data: {not json\n\n")
	}
	e.send(a, nil)
	e.chunks++
	if e.reply.HoldRest != nil && e.chunks == 1 {
		select {
		case <-e.reply.HoldRest:
		case <-e.gone:
			panic(http.ErrAbortHandler)
		}
	}
	if e.reply.CutAfter > 0 && e.chunks >= e.reply.CutAfter {
		panic(http.ErrAbortHandler)
	}
}

func (e *events) send(a answer, finish *string) {
	e.event(completion{Choices: []choice{{Delta: &a, Finish: finish}}})
}

func (e *events) event(c completion) {
	c.ID, c.Object, c.Created, c.Model = "chatcmpl-stub", "chat.completion.chunk", 1, e.model
	data, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	e.raw("data: " + string(data) + "\n\n")
}

func (e *events) raw(s string) {
	fmt.Fprint(e.w, s)
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

// pieces cuts s into chunks of n runes.
func pieces(s string, n int) []string {
	if n <= 0 {
		n = 12
	}
	var cut []string
	for r := []rune(s); len(r) > 0; {
		k := min(n, len(r))
		cut, r = append(cut, string(r[:k])), r[k:]
	}
	return cut
}
